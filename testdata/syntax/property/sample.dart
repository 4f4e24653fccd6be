/// A small store of orders.
library orders;

import 'dart:async';
import 'package:flutter/widgets.dart' as w show State, Widget;

const int limit = 32;
final names = <String, int>{'one': 1, "two": 2};
var counter = 0;

typedef Check = bool Function(int value);

enum OrderState { empty, open, closed }

class OrderError implements Exception {
  final String message;
  const OrderError(this.message);

  @override
  String toString() => 'OrderError: $message';
}

mixin Priced {
  int get price;

  bool isFree() {
    return price == 0;
  }
}

abstract class Base<T extends Object> {
  T? value;
  void dispose();
}

class Order extends Base<String> with Priced {
  Order(this.name, {this.lines = const [], required this.open});

  Order.empty() : name = '', lines = [], open = false;

  factory Order.of(String text) {
    final parts = text.split('=');
    return Order(parts[0], open: true);
  }

  final String name;
  List<int> lines;
  bool open;
  static const kind = 'order';

  @override
  int get price => lines.fold(0, (a, b) => a + b);

  set label(String v) {
    value = v.trim();
  }

  // At most [limit] of them.
  bool add(int line) {
    if (lines.length >= limit) {
      throw OrderError('too many: ${lines.length + 1}');
    } else if (line < 0) {
      return false;
    }
    lines.add(line);
    return true;
  }

  Future<String?> fetch(Client client, [Duration? timeout]) async {
    final res = await client.open('${client.base}/$name', timeout: timeout);
    return res.ok ? res.body : null;
  }

  @override
  void dispose() {
    value = null;
    lines..clear()..addAll([1, 2]);
  }
}

Map<K, List<T>> group<T, K>(Iterable<T> items, K Function(T) key) {
  final groups = <K, List<T>>{};
  for (final item in items) {
    groups.putIfAbsent(key(item), () => []).add(item);
  }
  return groups;
}

Stream<int> walk(int n) async* {
  for (var i = 0; i < n; i++) {
    yield i;
  }
  while (n > 0) {
    n--;
    if (n % 2 == 0) continue;
  }
}

String classify(Object? v) {
  switch (v) {
    case 0:
      return 'zero';
    case 'a':
      break;
    default:
      counter += 1;
  }
  final text = switch (v) { int n when n > 3 => 'big', String _ => 'text', _ => 'none' };
  do {
    counter--;
  } while (counter > 0);
  return v is int && !(v as int).isEven ? text : "x";
}

Future<void> load(String path) async {
  try {
    final data = await read(path);
    print(data ?? 'none');
  } on FormatException catch (e, s) {
    log(e, s);
    rethrow;
  } catch (e) {
    print(e);
  } finally {
    done(path);
  }
  assert(counter == 0, 'counter');
  var list = [1, 2, if (counter > 0) 3, ...names.values];
  list?.map((x) => x * 2).toList()[0];
  setState(() { counter = -1; });
}

class Page extends State<Widget> {
  late final Timer? timer;

  Widget build(BuildContext context) {
    return Column(
      children: [
        Text('a', style: const TextStyle(size: 3)),
        for (var i in [1, 2]) Text('$i'),
      ],
    );
  }
}
