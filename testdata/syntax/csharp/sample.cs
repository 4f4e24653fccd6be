using System;
using System.Collections.Generic;
using static System.Math;
using Names = System.Collections.Generic.List<string>;

namespace Example.Store
{
    /// <summary>Says how a record changed.</summary>
    public delegate void Changed(object sender, int count);

    [Flags]
    public enum Color : byte
    {
        None = 0,
        Red = 1,
        Blue = 1 << 1,
    }

    public interface IShape
    {
        double Area { get; }
        void Draw(int scale = 1);
    }

    public record Point(int X, int Y);

    public readonly struct Size
    {
        public readonly int Width;
        public Size(int width) => Width = width;
    }

    [Serializable]
    public abstract class Shape<T> : Base, IShape where T : class, new()
    {
        private const int Limit = 1_000;
        protected static readonly Dictionary<string, int> Counts = new Dictionary<string, int>
        {
            { "a", 1 },
            ["b"] = 2,
        };
        private int hits, misses = 0;
        public event Changed OnChange;

        public string Name { get; private set; } = "shape";
        public abstract double Area { get; }
        public int Hits => hits;
        public int Total
        {
            get { return hits + misses; }
            set
            {
                hits = value;
            }
        }

        protected Shape(string name, params int[] sizes) : base(name)
        {
            this.Name = name ?? throw new ArgumentNullException(nameof(name));
        }

        ~Shape() { }

        public int this[int index]
        {
            get { return index; }
        }

        public static Shape<T> operator +(Shape<T> a, Shape<T> b) => a;

        public virtual void Draw(int scale)
        {
            for (int i = 0, n = 3; i < n; i++)
            {
                if (i % 2 == 0 && scale > 1) continue;
                else if (i == Limit) { break; }
            }
            foreach (var pair in Counts)
            {
                Console.WriteLine($"{pair.Key}: {pair.Value:N2}");
            }
            do { misses--; } while (misses > 0);
            lock (Counts)
            {
                OnChange?.Invoke(this, hits);
            }
        }

        public async Task<string> LoadAsync(string path, out int size)
        {
            size = 0;
            using var reader = new StreamReader(path);
            using (var other = Open(path))
            {
                other.Flush();
            }
            try
            {
                return await reader.ReadToEndAsync();
            }
            catch (IOException e) when (e.Message != "")
            {
                Log(@"c:\temp", e);
                throw;
            }
            finally
            {
                hits++;
            }
        }

        private string Kind(object value)
        {
            switch (value)
            {
                case null:
                    return "none";
                case int n when n > 1:
                case string _:
                    return "simple";
                default:
                    break;
            }
            Func<int, int> twice = x => x * 2;
            Action<string, int> show = (text, count) => { Console.WriteLine(text); };
            var word = value is Point p ? p.ToString() : (string)value;
            var size = hits switch
            {
                0 => "empty",
                < 10 => "few",
                _ => "many",
            };
            int local(int a) => twice(a) + (int)Abs(-1.5);
            var sorted = from name in new Names() where name.Length > 2 orderby name select name;
            word ??= size;
            return word + local(2) + sorted;
        }

        public IEnumerable<int> Numbers()
        {
            yield return 1;
            yield break;
        }
    }
}
