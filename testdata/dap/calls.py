import sys
import threading


def fact(n):
    if n <= 1:
        return 1
    rest = fact(n - 1)
    return n * rest


def total(items):
    sum_ = 0
    for item in items:
        sum_ += item
    return sum_


def main():
    items = list(range(60))
    print("begin")
    print("warn", file=sys.stderr)
    result = total(items[:5])
    result += fact(4)
    print("result", result)
    return result


if __name__ == "__main__":
    if "--raise" in sys.argv:
        raise ValueError("bad input")
    if "--loop" in sys.argv:
        worker = threading.Thread(target=threading.Event().wait, daemon=True)
        worker.start()
        while True:
            pass
    code = main()
    sys.exit(code % 7)
