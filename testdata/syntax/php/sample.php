<?php

declare(strict_types=1);

namespace App\Library;

use App\Base\{Model, Repository as Store};
use InvalidArgumentException;
use function array_map;
const LIMIT = 10;

#[Attribute]
final class Column
{
    public function __construct(
        public readonly string $name,
        private ?int $size = null,
    ) {
    }
}

interface Lender
{
    public const DAYS = 14;

    public function lend(Book $book, string ...$names): bool;
}

trait Counts
{
    private static int $count = 0;

    public static function bump(): int
    {
        return ++self::$count;
    }
}

enum Status: string
{
    case Free = 'free';
    case Lent = 'lent';

    public function label(): string
    {
        return match ($this) {
            self::Free => 'on the shelf',
            self::Lent => 'out',
        };
    }
}

abstract class Thing extends Model
{
    abstract protected function weight(): int|float;
}

class Book extends Thing implements Lender, \Countable
{
    use Counts;
    protected array $tags = ['new' => 1, 'old' => 2];

    public ?Status $status = null, $before;

    #[Column('title', 80)]
    public string $title;

    public function __construct(string $title, private int $pages = 0)
    {
        parent::__construct();
        $this->title = $title;
    }

    protected function weight(): int|float
    {
        return $this->pages * 1.5;
    }

    public function lend(Book $book, string ...$names): bool
    {
        global $log;
        static $calls = 0;

        if ($book === $this && !empty($names)) {
            $log[] = "lent {$book->title} to $names[0]";
            $calls++;
        } elseif (isset($names[1]) || $calls > LIMIT) {
            throw new InvalidArgumentException(sprintf('too many: %d', $calls));
        } else {
            unset($log);
            return false;
        }

        foreach ($names as $i => $name) {
            switch (strlen($name)) {
                case 0:
                    continue 2;
                case 1:
                    echo $name, PHP_EOL;
                    break;
                default:
                    print(<<<TEXT
                        $i: {$name}
                        TEXT);
            }
        }
        for ($i = 0, $n = count($names); $i < $n; $i += 2):
            $this->tags[$names[$i]] ??= $i;
        endfor;

        return (bool) ($this->status?->label() ?? 'none');
    }

    public function count(): int
    {
        $double = static fn(int $x): int => $x << 1;
        $sum = function (int ...$xs) use ($double, &$total) {
            $total = array_sum(array_map($double, $xs));
            return $total;
        };
        [$a, 'k' => $b] = [1, 'k' => 2];
        list(, $c) = [3, 4];
        try {
            return $sum(...[$a, $b, $c]) instanceof Store ? 1 : -1;
        } catch (\TypeError | \ValueError $e) {
            @trigger_error($e->getMessage());
        } finally {
            do {
                $a--;
            } while ($a > 0);
        }
        return $a <=> $b;
    }
}

start:
if (!isset($again)) {
    $again = true;
    goto start;
}
$books = [new Book('One'), new Book(title: 'Two', pages: 20)];
$anonymous = new class ($books) {
    public function __construct(public array $books) {}
};
?>
<ul>
<?php foreach ($anonymous->books as $book): ?>
    <li class="<?= $book::class ?>"><?= htmlspecialchars($book->title) ?></li>
<?php endforeach; ?>
</ul>
