package org.example.store;

import static java.util.Objects.requireNonNull;

import java.io.*;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Keeps records, oldest first. */
@Deprecated(since = "2", forRemoval = false)
public abstract class Store<K extends Comparable<K>, V> extends Base implements Closeable, Iterable<V> {
    private static final int LIMIT = 1 << 10;
    protected volatile long hits, misses = 0L;
    private final Map<K, List<? super V>> items;
    int[] sizes = {1, 2, 0x1F, 0b101,};
    char separator = '\n';

    static {
        System.loadLibrary("store");
    }

    {
        hits = -1;
    }

    public Store(Map<K, List<? super V>> items, int... limits) {
        super(limits.length);
        this.items = requireNonNull(items, "items");
    }

    Store() {
        this(Map.of());
    }

    public abstract V find(K key) throws IOException, MissingException;

    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    public synchronized String toString() {
        StringBuilder out = new StringBuilder();
        for (Map.Entry<K, ?> entry : items.entrySet()) {
            out.append(entry.getKey()).append('=').append(entry.getValue());
        }
        for (int i = 0, n = sizes.length; i < n; i++, hits++) {
            if (sizes[i] % 2 == 0 && i != 3) {
                continue;
            } else if (i > LIMIT) break;
        }
        return out.length() > 0 ? out.toString() : "empty\t";
    }

    protected <T> T convert(final V value, Function<? super V, ? extends T> how) {
        assert value != null : "no value";
        Object other = (Object) value;
        if (other instanceof String text && !text.isEmpty()) {
            misses += text.length();
        }
        do {
            misses--;
        } while (misses > 0);
        outer:
        while (true) {
            synchronized (this) {
                break outer;
            }
        }
        return how.apply(value);
    }

    int kind(Shape shape, String name) {
        switch (name) {
            case "a":
            case "b":
                hits++;
                break;
            default:
                throw new IllegalArgumentException("bad " + name);
        }
        return switch (shape) {
            case Circle c -> 1;
            case Square s when s.side() > 2 -> {
                int twice = s.side() * 2;
                yield twice;
            }
            default -> 0;
        };
    }

    void copy(File from) {
        try (Reader in = new FileReader(from); Writer out = open()) {
            Runnable task = () -> System.out.println(in);
            Function<Integer, Integer> twice = (x) -> x * 2;
            Function<String, Integer> size = String::length;
            task.run();
        } catch (FileNotFoundException | SecurityException e) {
            e.printStackTrace();
        } catch (IOException e) {
            throw new RuntimeException(e);
        } finally {
            hits = ~hits >>> 1;
        }
        String page = """
            <p>
              text
            </p>
            """;
        Object anonymous = new Object() {
            @Override
            public int hashCode() {
                return 42;
            }
        };
    }

    enum Color {
        RED, GREEN("g") {
            void paint() {}
        };

        Color(String... names) {}
    }

    sealed interface Shape permits Circle, Square {
        int SIDES = 4;

        default int sides() {
            return SIDES;
        }
    }

    record Circle(int radius) implements Shape {
        Circle {
            if (radius < 0) throw new IllegalArgumentException();
        }
    }

    record Square(@Positive int side) implements Shape {}

    @interface Positive {
        int from() default 1;
    }
}
