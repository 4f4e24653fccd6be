library store.records;

import 'dart:async';
import 'package:flutter/material.dart' as m hide Text;
import 'base.dart' show Base, Mixed;
export 'other.dart';

part 'records.g.dart';

/// Largest number of records.
const int limit = 1 << 10;
final names = <String>['a', "b", 'it\'s'];
var counter = 0, total = 1.5e3;

typedef Compare<T> = int Function(T left, T right);

enum Color {
  red('r'),
  green('g');

  const Color(this.letter);
  final String letter;
}

mixin Loud on Base {
  void shout() => print('loud');
}

extension Doubled on int {
  int get doubled => this * 2;
}

@immutable
abstract class Shape<T extends Object> extends Base with Loud implements Comparable<Shape> {
  final String name;
  late final List<T> parts;
  static const sides = {'circle': 0, 'square': 4};
  int? _hits;

  Shape(this.name, {required super.id, this.parts = const []}) : _hits = 0, super.named();
  const Shape.empty() : this('', id: 0);
  factory Shape.of(String text) => Circle(text);

  double get area;
  set hits(int value) {
    _hits = value;
  }

  @override
  int compareTo(Shape other) {
    return area.compareTo(other.area);
  }

  bool operator ==(Object other) => other is Shape && other.name == name;

  @protected
  Future<int> load(String url, [int retries = 3]) async {
    var tries = 0;
    String? body;
    while (tries < retries) {
      try {
        body = await fetch(url);
        break;
      } on TimeoutException catch (e, stack) {
        log('slow $url: ${e.message}', stack);
      } catch (e) {
        rethrow;
      } finally {
        tries++;
      }
    }
    if (body == null) {
      throw StateError('nothing at $url');
    } else if (body.isEmpty) {
      return 0;
    }
    return body!.length;
  }

  Stream<int> count(int to) async* {
    for (var i = 0; i < to; i++) {
      yield i;
    }
    for (final part in parts) {
      yield* part.numbers();
    }
  }

  String describe(int sides) {
    switch (sides) {
      case 0:
        return 'round';
      case 4:
        return 'square';
      default:
        break;
    }
    final word = switch (sides) {
      3 => 'triangle',
      _ => 'many',
    };
    return word;
  }
}

class Page extends m.StatelessWidget {
  const Page({super.key, this.title});

  final String? title;

  @override
  m.Widget build(m.BuildContext context) {
    final list = [1, 2, if (title != null) 3, for (var x in [4]) x, ...?extra];
    final map = {'a': 1, ...other};
    list
      ..add(5)
      ..sort((a, b) => a - b);
    counter ??= list.length;
    setState(() {
      counter += 1;
    });
    return m.Padding(
      padding: const m.EdgeInsets.all(8),
      child: title?.isEmpty ?? true ? m.Text('none') : m.Text(title!, maxLines: 2),
    );
  }
}

void main(List<String> args) {
  do {
    counter--;
  } while (counter > 0);
  assert(args.isNotEmpty, 'no arguments');
  final text = '''
many
lines
''';
  print(r'raw $text' + text);
  m.runApp(const Page(title: 'x'));
}
