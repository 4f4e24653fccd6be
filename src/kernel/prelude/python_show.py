# What a cell can use: tool, display, input.


class ToolError(Exception):
    """A tool failed; `kind` says how, `hint` what to do next."""

    def __init__(self, message, kind="failed", hint=None):
        super().__init__(message if not hint else "%s (hint: %s)" % (message, hint))
        self.message = message
        self.kind = kind
        self.hint = hint


# Tracebacks name it without a module of the kernel's.
ToolError.__module__ = "builtins"


class ToolText(str):
    """The text of a tool's result, with its `data` and `images`."""

    data = None
    images = ()


class ToolImage:
    """A picture in a tool's result."""

    def __init__(self, mime, data):
        self.mime = mime
        self.data = data

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.mime: self.data, "text/plain": repr(self)}

    def __repr__(self):
        return "<%s, %d bytes>" % (self.mime, len(self.data))


class Tool:
    """Calls the agent's own tools: tool("Read", {"path": "a.py"}).

    Gives the tool's text, a str with `.data` and `.images`, or its data when it has no text. A failure
    raises ToolError. In a coroutine: await tool.aio(name, args).
    """

    Error = ToolError

    def __call__(self, name, args=None, **more):
        if S.forked:
            raise ToolError("tool() works in the kernel's own process, and this is a fork of it")
        cell = S.cell
        if cell is None:
            raise ToolError("tool() works while a cell runs, and none does")
        arguments = dict(args or {})
        arguments.update(more)
        answer = link.request(
            {"t": "call", "cell": cell, "name": str(name), "args": dump(arguments)}
        )
        if answer.get("err") is not None:
            raise ToolError(answer["err"], answer.get("kind", "failed"), answer.get("hint"))
        value = answer.get("val") or {}
        images = [
            ToolImage(image["mime"], binascii.a2b_base64(image["data"]))
            for image in value.get("images") or ()
        ]
        if not value.get("text") and not images:
            return value.get("data")
        text = ToolText(value.get("text") or "")
        text.data = value.get("data")
        text.images = images
        return text

    async def aio(self, name, args=None, **more):
        import asyncio
        import threading

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def settle(method, value):
            if not future.done():
                method(value)

        def work():
            try:
                result = (future.set_result, self(name, args, **more))
            except BaseException as error:
                result = (future.set_exception, error)
            try:
                loop.call_soon_threadsafe(settle, *result)
            except RuntimeError:
                pass

        threading.Thread(target=work, name="tool %s" % name, daemon=True).start()
        return await future

    def __repr__(self):
        return "<tool: tool(name, args) calls one of the agent's tools>"


def refuse_input(prompt="", *_):
    raise EOFError(
        "input() has nobody to answer it here: put the value into the code, or ask the person with "
        'tool("ask_user", {"question": "..."})'
    )


def leave(code=None):
    """Ends the cell; the kernel and its variables stay."""
    raise SystemExit(code)


MIMES = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
)


def plain(value):
    """The text of a value: its repr, long containers over several lines."""
    if "pandas" in sys.modules:
        text = extra("rich").frame_text(value)
        if text is not None:
            return text
    text = repr(value)
    if type(value) in (list, tuple, dict, set, frozenset) and 79 < len(text) < 200000:
        try:
            import pprint

            text = pprint.pformat(value, width=79, compact=True, **PRETTY)
        except Exception:
            # A cell may have changed what it needs.
            pass
    if len(text) > MAX_TEXT:
        text = "%s\n[cut after %d of %d characters]" % (text[:MAX_TEXT], MAX_TEXT, len(text))
    return text


PRETTY = {"sort_dicts": False}


def encoded(mime, value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        if mime.startswith("text/") or mime in ("image/svg+xml", "application/json"):
            return bytes(value).decode("utf-8", "replace")
        return binascii.b2a_base64(bytes(value), newline=False).decode("ascii")
    if isinstance(value, str):
        return value
    return dump(value)


def bundle(value, own_text=True):
    """The representations of a value by media type; `text/plain` is always there."""
    data = {}
    kind = type(value)
    if not isinstance(value, type):
        method = getattr(kind, "_repr_mimebundle_", None)
        if callable(method):
            try:
                try:
                    res = method(value, include=None, exclude=None)
                except TypeError:
                    res = method(value)
                if isinstance(res, tuple):
                    res = res[0]
                data.update(res or {})
            except Exception:
                pass
        for name, mime in MIMES:
            method = getattr(kind, name, None)
            if mime in data or not callable(method):
                continue
            try:
                res = method(value)
                if isinstance(res, tuple):
                    res = res[0]
                if res is not None:
                    data[mime] = res
            except Exception:
                pass
        if "matplotlib.figure" in sys.modules and "image/png" not in data:
            picture = extra("rich").figure_png(value)
            if picture is not None:
                data["image/png"] = picture
    if "text/plain" not in data:
        data["text/plain"] = plain(value)
    return {str(mime): encoded(mime, res) for mime, res in data.items() if res is not None}


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def show(kind, data):
    """Hands a display to the host and waits until it stands in its place in the output."""
    if S.forked:
        os.write(1, (data.get("text/plain", "") + "\n").encode("utf-8", "replace"))
        return
    if S.cell is None:
        # Nobody would answer before the next cell; a thread that shows something late prints it.
        print(data.get("text/plain", ""))
        return
    flush()
    link.request({"t": kind, "cell": S.cell, "data": data})


def display(*values, **options):
    """Shows values in their richest form."""
    for value in values:
        if options.get("raw") and isinstance(value, dict):
            data = {str(mime): encoded(mime, res) for mime, res in value.items()}
            data.setdefault("text/plain", "")
        elif isinstance(value, str):
            data = {"text/plain": value}
        else:
            data = bundle(value)
        show("display", data)


# Sources that are compiled when they are first needed.

EXTRAS = {}


class Extra:
    pass


def extra(name):
    loaded = EXTRAS.get(name)
    if loaded is None:
        with guard:
            names = dict(globals())
            names["__name__"] = "__kernel_%s__" % name
            exec(compile(SOURCES[name], SOURCE, "exec"), names)
            loaded = Extra()
            loaded.__dict__.update(names)
            EXTRAS[name] = loaded
    return loaded


class StandardLibraryFirst:
    """Keeps a `json.py` or `random.py` in the folder from standing in for the standard library."""

    def __init__(self, names, path):
        self.names = names
        self.path = path

    def find_spec(self, name, path=None, target=None):
        if path is None and name in self.names:
            return PATH_FINDER.find_spec(name, self.path)
        return None


class AfterImport:
    """Runs a patch right after certain modules were loaded."""

    names = {
        "matplotlib.pyplot": "on_pyplot",
        "threading": "on_threading",
        "inspect": "on_inspect",
        "IPython.display": "on_ipython_display",
        "IPython.core.display_functions": "on_ipython_display",
        "IPython.core.getipython": "on_get_ipython",
        "IPython": "on_get_ipython",
    }
    busy = ()

    def find_spec(self, name, path=None, target=None):
        patch = self.names.get(name)
        if patch is None or name in self.busy:
            return None
        self.busy += (name,)
        try:
            for finder in sys.meta_path:
                if finder is self or not hasattr(finder, "find_spec"):
                    continue
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
            else:
                return None
        finally:
            self.busy = tuple(other for other in self.busy if other != name)
        load_module = getattr(spec.loader, "exec_module", None)
        if load_module is not None and not isinstance(spec.loader, StandIns):

            def exec_module(module):
                load_module(module)
                try:
                    getattr(extra("rich"), patch)(module)
                except Exception:
                    pass

            try:
                spec.loader.exec_module = exec_module
            except AttributeError:
                pass
        return spec


class StandIns:
    """Small stand-ins for the parts of IPython that people import by reflex, where it is missing."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "IPython" or name not in extra("rich").STAND_INS:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        extra("rich").fill(module)


