package com.example;

import java.util.*;
import static java.lang.Math.max;

/** Doc { with brace and it's quote */
@Annotation(value = {"}", "{"}, kind = 'x')
public abstract class Nasty<T extends Comparable<T>> extends Base<T> implements Face, Other {
    private static final char QUOTE = '\'', BRACE = '{';
    int[] array = {1, 2, 3}, more = {};
    String text = "escaped \" } quote";
    String block = """
        text block with " and { and \"""
        """;
    static { System.out.println("a static initializer that is long enough"); }
    { instance(); }
    public Nasty(int x) { super(x); this.setup("with a text that makes this block long enough"); }
    @Override
    <R> R generic(List<? super R> list) throws IOException { return list.isEmpty() ? null : list.get(0); }
    abstract void nothing();
    default List<String> names() { return new ArrayList<>(); }
    Runnable run = () -> { System.out.println("a lambda body that is long enough to be a block"); };
    int compute(int a) {
        // comment }
        if (a > 1) { return switch (a) { case 2 -> { yield 3; } default -> 4; }; } else { return a / 2 /* { */; }
    }
    enum Kind { A(1) { int v() { return 1; } }, B; int v() { return 2; } }
    interface Inner { int f(); default int g() { return 1; } }
    record Point(int x, int y) { Point { if (x < 0) throw new Error(); } }
    @interface Note { String value() default "}"; int[] many() default {1, 2}; }
    static class Nested { void m() { new Object() { void n() {} }.n(); } }
    ;
}

non-sealed class Open extends Nasty<String> {}
record Top(String name) {}
enum Level { LOW, HIGH }
@interface Marker {}
