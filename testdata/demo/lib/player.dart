class Player {
  Controller? controller;
  Timer? timer;

  void close() {
    if (controller != null) controller.dispose();
    if (timer != null) controller.dispose();
    if (timer !=
        null) timer /* ours */ .dispose();
    print("if (timer != null) timer.dispose()");
  }
}
