void main() {
  assertEquals(4, add(2, 2));
  assertEquals(
    "a",
    name(),
  );
}
