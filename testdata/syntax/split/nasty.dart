library nasty;
import 'dart:async' show Future, Stream;
part 'nasty.g.dart';

/// Doc with { brace and ' quote
@Deprecated('use } instead')
const text = 'single \' $name ${map['key'] ?? "nested ${deep('}')}"} {';
final raw = r'raw \' + r"\${not}";
var multi = '''
  class Fake { ' "
  ${call(() { return '}'; })}
''';
typedef Callback<T> = void Function(T value, {int? named});
/* block { comment */
int topLevel({int a = 1, String b = '}'}) => a + b.length;
Future<void> main() async {
  await Future.wait([for (final x in xs) if (x != null) work(x, onDone: () { print('done with a long enough block of text'); })]);
  switch (kind) { case 1: print('one'); break; default: print("a default that is long enough to be a block"); }
  try { risky('some text that makes this block longer than the limit'); } on FormatException catch (e) { print('caught $e in a block that is long enough'); } finally { print('finally a block that is long enough to be a unit'); }
}
int get getter => 3;
set setter(int value) { _value = value; }
external void native();

enum Color { red, green; const Color(); String get label => 'x{'; }

@immutable
abstract class Base<T extends Object> extends Parent<T> with Mixin, Other implements Face {
  const Base({required this.a, super.key}) : b = const {}, c = const {'k': 1}, assert(a != null), super();
  Base.named(int x) : a = x, b = {x: x} { init('a body after initializers that is long enough to count'); }
  factory Base.make() = Other.make;
  factory Base.of(BuildContext context) { return context.find('with some long text so that it is a block of its own'); }
  final int a;
  late final Map<String, int> b = {'x': 1}, c = {};
  static const List<int> list = <int>[1, 2];
  @override
  bool operator ==(Object other) { return other is Base && a == other.a && b == other.b && c == other.c; }
  int operator [](int i) => i;
  void operator []=(int i, int v) { store[i] = v; }
  bool operator <=(Base o) => true;
  @override Widget build(BuildContext context) {
    return Column(children: [
      Button(onPressed: () async { await Navigator.of(context).push(route('with long text in here')); }),
      Text('${a > 1 ? '{' : "}"}'),
    ]);
  }
  Stream<int> count() async* { yield 1; yield 2; yield 3; yield 4; yield 5; yield 6; yield 7; yield 8; }
}
mixin Mixin on Base { int mixed = 1; }
extension on String { String shout() => toUpperCase(); }
extension type Id(int value) { Id next() => Id(value + 1); }
sealed class Sealed {}
mixin class Both { void m() {} }
class Alias = Base with Mixin;
Widget build({required int aRatherLongParameterName, required String anotherLongParameterName, int x = 1}) => w;
