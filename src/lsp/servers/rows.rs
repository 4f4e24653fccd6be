//! The built-in rows, in the order in which they are tried for a language.

use super::{DEFAULT, Encoding, Local, Reach, Ready, Root, Row, Slot};

const PYTHON_FILES: &[(&str, &str)] = &[(".py", "python"), (".pyi", "python")];

const PYTHON_ROOT: Root = Root::Markers(&[&[
    "pyrightconfig.json",
    "ty.toml",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
]]);

const SCRIPT_FILES: &[(&str, &str)] = &[
    (".ts", "typescript"),
    (".mts", "typescript"),
    (".cts", "typescript"),
    (".tsx", "typescriptreact"),
    (".js", "javascript"),
    (".mjs", "javascript"),
    (".cjs", "javascript"),
    (".jsx", "javascriptreact"),
];

/// Without one of these a server of TypeScript knows what is open and what that imports.
const SCRIPT_REACH: Reach = Reach::Described(&["tsconfig.json", "jsconfig.json"]);

const WEB_ROOT: Root = Root::Markers(&[&["package.json"], &[".git"]]);

/// Every built-in row.
pub const BUILT_IN: &[Row] = &[
    Row {
        id: "dart",
        commands: &[&["dart", "language-server", "--protocol=lsp"]],
        files: &[(".dart", "dart")],
        root: Root::Pubspec,
        init_options: r#"{"onlyAnalyzeProjectsWithOpenFiles":false,"closingLabels":false,"outline":false,"flutterOutline":false}"#,
        // The analysis is announced as progress `ANALYZING`, soon after the first document.
        ready: Ready::ProgressAfterOpen,
        unverified: true,
        install: "install the Dart or Flutter SDK",
        ..DEFAULT
    },
    Row {
        id: "rust-analyzer",
        commands: &[&["rust-analyzer"]],
        files: &[(".rs", "rust")],
        root: Root::Cargo,
        // A build folder of its own keeps it from waiting for the caller's cargo; the symbol search would
        // find types only.
        init_options: r#"{"checkOnSave":true,"cargo":{"targetDir":true},"files":{"watcher":"client"},"workspace":{"symbol":{"search":{"kind":"all_symbols","limit":512}}}}"#,
        settings: r#"{"rust-analyzer":{"checkOnSave":true,"cargo":{"targetDir":true},"files":{"watcher":"client"},"workspace":{"symbol":{"search":{"kind":"all_symbols","limit":512}}}}}"#,
        // Where the sources of the standard library are missing it runs `rustup component add`, and a
        // toolchain file makes rustup fetch a toolchain: a question must not install anything.
        env: &[
            ("RUSTUP_DIST_SERVER", "http://127.0.0.1:9"),
            ("RUSTUP_AUTO_INSTALL", "0"),
        ],
        ready: Ready::Quiescent,
        probe: true,
        needs: "cargo",
        install: "run `rustup component add rust-analyzer`, or install your system's package of it",
        ..DEFAULT
    },
    Row {
        id: "clangd",
        commands: &[
            &["clangd", "--background-index"],
            &["clangd-22", "--background-index"],
            &["clangd-21", "--background-index"],
            &["clangd-20", "--background-index"],
            &["clangd-19", "--background-index"],
            &["clangd-18", "--background-index"],
        ],
        files: &[
            (".c", "c"),
            (".h", "c"),
            (".cpp", "cpp"),
            (".cc", "cpp"),
            (".cxx", "cpp"),
            (".hpp", "cpp"),
            (".hh", "cpp"),
            (".hxx", "cpp"),
            (".m", "objective-c"),
            (".mm", "objective-cpp"),
            (".cu", "cuda-cpp"),
        ],
        root: Root::Markers(&[
            &[
                "compile_commands.json",
                "compile_flags.txt",
                ".clangd",
                "build/compile_commands.json",
            ],
            &["CMakeLists.txt", "meson.build", "Makefile", "configure.ac"],
            &[".git"],
        ]),
        // It then says when it has parsed what a document includes; it speaks of the document before that, too.
        init_options: r#"{"clangdFileStatus":true}"#,
        ready: Ready::BackgroundIndex,
        // Its index is made of the files that a compilation database lists.
        reach: Reach::Described(&["compile_commands.json", "build/compile_commands.json"]),
        // The databases it reads again after some seconds, the other two never for what is open.
        restart_on: &[
            ".clangd",
            "compile_flags.txt",
            "compile_commands.json",
            "build/compile_commands.json",
        ],
        // What it has parsed of the headers of each document.
        leaves_files: true,
        install: "install clangd",
        ..DEFAULT
    },
    Row {
        id: "gopls",
        commands: &[&["gopls"]],
        files: &[(".go", "go"), ("go.mod", "go.mod"), ("go.work", "go.work")],
        root: Root::Markers(&[&["go.work"], &["go.mod"]]),
        // It would speak of the changed file at once, and of what that breaks elsewhere some time later; and it
        // tells when it has spoken of everything.
        settings: r#"{"gopls":{"diagnosticsDelay":"0s","verboseWorkDoneProgress":true}}"#,
        ready: Ready::ProgressAfterOpen,
        needs: "go",
        install: "run `go install golang.org/x/tools/gopls@latest`",
        ..DEFAULT
    },
    Row {
        id: "basedpyright",
        commands: &[&["basedpyright-langserver", "--stdio"]],
        files: PYTHON_FILES,
        root: PYTHON_ROOT,
        local: Local::Python,
        pull: true,
        ready: Ready::Listing,
        install: "run `pip install basedpyright`",
        ..DEFAULT
    },
    Row {
        id: "pyright",
        commands: &[&["pyright-langserver", "--stdio"]],
        files: PYTHON_FILES,
        root: PYTHON_ROOT,
        local: Local::Python,
        pull: true,
        ready: Ready::Listing,
        install: "run `pip install pyright`",
        ..DEFAULT
    },
    Row {
        id: "ty",
        commands: &[&["ty", "server"]],
        files: PYTHON_FILES,
        root: PYTHON_ROOT,
        local: Local::Python,
        // It is quick enough to be asked about the whole project after each write.
        init_options: r#"{"diagnosticMode":"workspace"}"#,
        settings: r#"{"ty":{"diagnosticMode":"workspace"}}"#,
        pull: true,
        complains: "Failed to load project",
        install: "run `pip install ty`",
        ..DEFAULT
    },
    Row {
        id: "pylsp",
        commands: &[&["pylsp"]],
        files: PYTHON_FILES,
        root: PYTHON_ROOT,
        local: Local::Python,
        settings: r#"{"pylsp":{"plugins":{"pycodestyle":{"enabled":false},"mccabe":{"enabled":false}}}}"#,
        // Bounds of the library under it, which keeps itself from reading whole trees.
        reach: Reach::Searched {
            naming: 30,
            files: 2_000,
        },
        // It says nothing of its encoding, which would mean UTF-16, and counts code points both ways.
        counts_in: Some(Encoding::Utf32),
        // Those come from Python's own parser, which counts bytes.
        diagnoses_in: Some(Encoding::Utf8),
        install: "run `pip install python-lsp-server`",
        ..DEFAULT
    },
    Row {
        id: "ruff",
        commands: &[&["ruff", "server"]],
        files: PYTHON_FILES,
        root: Root::Markers(&[&["ruff.toml", ".ruff.toml", "pyproject.toml"]]),
        slot: Slot::Linter,
        local: Local::Python,
        pull: true,
        install: "run `pip install ruff`",
        ..DEFAULT
    },
    Row {
        id: "deno",
        commands: &[&["deno", "lsp"]],
        files: SCRIPT_FILES,
        root: Root::Markers(&[&["deno.json", "deno.jsonc"]]),
        init_options: r#"{"enable":true,"lint":true}"#,
        settings: r#"{"deno":{"enable":true}}"#,
        unverified: true,
        install: "install deno",
        ..DEFAULT
    },
    Row {
        id: "typescript-language-server",
        commands: &[&["typescript-language-server", "--stdio"]],
        files: SCRIPT_FILES,
        root: Root::Node,
        local: Local::Node,
        // Without prefixes the key of `{ total }` would be renamed with the variable.
        init_options: r#"{"hostInfo":"toolbox","disableAutomaticTypingAcquisition":true,"preferences":{"providePrefixAndSuffixTextForRename":true,"allowRenameOfImportPath":true}}"#,
        ready: Ready::ProgressAfterOpen,
        reach: SCRIPT_REACH,
        install: "run `npm i -D typescript-language-server typescript@5`",
        ..DEFAULT
    },
    Row {
        id: "tsc",
        commands: &[&["tsc", "--lsp", "--stdio"]],
        files: SCRIPT_FILES,
        root: Root::Node,
        local: Local::Node,
        // Without aliases the key of `{ total }` would be renamed with the variable.
        settings: r#"{"js/ts":{"preferences":{"useAliasesForRenames":true}},"typescript":{"preferences":{"useAliasesForRenames":true}},"javascript":{"preferences":{"useAliasesForRenames":true}}}"#,
        pull: true,
        reach: SCRIPT_REACH,
        // Older ones do not know `--lsp`.
        since: Some(7),
        probe: true,
        install: "run `npm i -D typescript@7`",
        ..DEFAULT
    },
    Row {
        id: "eslint",
        commands: &[&["vscode-eslint-language-server", "--stdio"]],
        files: SCRIPT_FILES,
        root: Root::Markers(&[&[
            "eslint.config.js",
            "eslint.config.mjs",
            "eslint.config.cjs",
            "eslint.config.ts",
            ".eslintrc.json",
            ".eslintrc.js",
            ".eslintrc.cjs",
            ".eslintrc.yml",
        ]]),
        slot: Slot::Linter,
        local: Local::Node,
        settings: r#"{"validate":"on","run":"onType","nodePath":null,"problems":{"shortenToSingleLine":false},"experimental":{},"rulesCustomizations":[],"workingDirectory":{"mode":"location"},"quiet":false,"onIgnoredFiles":"off","codeAction":{"disableRuleComment":{"enable":true,"location":"separateLine"},"showDocumentation":{"enable":true}},"codeActionOnSave":{"enable":false,"mode":"all"}}"#,
        pull: true,
        install: "run `npm i -D vscode-langservers-extracted eslint`",
        ..DEFAULT
    },
    Row {
        id: "biome",
        commands: &[&["biome", "lsp-proxy"]],
        files: &[
            (".ts", "typescript"),
            (".tsx", "typescriptreact"),
            (".js", "javascript"),
            (".jsx", "javascriptreact"),
            (".json", "json"),
            (".css", "css"),
        ],
        root: Root::Markers(&[&["biome.json", "biome.jsonc"]]),
        slot: Slot::Linter,
        local: Local::Node,
        install: "run `npm i -D @biomejs/biome`",
        ..DEFAULT
    },
    Row {
        id: "lua-language-server",
        commands: &[&["lua-language-server"]],
        files: &[(".lua", "lua")],
        root: Root::Markers(&[
            &[".luarc.json", ".luarc.jsonc", ".stylua.toml", "stylua.toml"],
            &[".git"],
        ]),
        unverified: true,
        install: "install lua-language-server",
        ..DEFAULT
    },
    Row {
        id: "bash-language-server",
        commands: &[&["bash-language-server", "start"]],
        files: &[(".sh", "shellscript"), (".bash", "shellscript")],
        root: Root::Markers(&[&[".git"]]),
        local: Local::Node,
        ready: Ready::Publication,
        install: "run `npm i -g bash-language-server`",
        ..DEFAULT
    },
    Row {
        id: "yaml-language-server",
        commands: &[&["yaml-language-server", "--stdio"]],
        files: &[(".yaml", "yaml"), (".yml", "yaml")],
        root: Root::Markers(&[&[".git"]]),
        local: Local::Node,
        // Schemas come from the network otherwise.
        settings: r#"{"yaml":{"schemaStore":{"enable":false},"validate":true},"redhat":{"telemetry":{"enabled":false}}}"#,
        install: "run `npm i -g yaml-language-server`",
        ..DEFAULT
    },
    Row {
        id: "vscode-json",
        commands: &[&["vscode-json-language-server", "--stdio"]],
        files: &[(".json", "json"), (".jsonc", "jsonc")],
        root: WEB_ROOT,
        local: Local::Node,
        init_options: r#"{"handledSchemaProtocols":["file"]}"#,
        settings: r#"{"json":{"validate":{"enable":true}}}"#,
        install: "run `npm i -g vscode-langservers-extracted`",
        ..DEFAULT
    },
    Row {
        id: "vscode-html",
        commands: &[&["vscode-html-language-server", "--stdio"]],
        files: &[(".html", "html"), (".htm", "html")],
        root: WEB_ROOT,
        local: Local::Node,
        init_options: r#"{"embeddedLanguages":{"css":true,"javascript":true}}"#,
        settings: r#"{"html":{"validate":{"styles":true,"scripts":true}},"css":{"validate":true},"javascript":{"validate":{"enable":true}}}"#,
        install: "run `npm i -g vscode-langservers-extracted`",
        ..DEFAULT
    },
    Row {
        id: "vscode-css",
        commands: &[&["vscode-css-language-server", "--stdio"]],
        files: &[(".css", "css"), (".scss", "scss"), (".less", "less")],
        root: WEB_ROOT,
        local: Local::Node,
        settings: r#"{"css":{"validate":true},"scss":{"validate":true},"less":{"validate":true}}"#,
        install: "run `npm i -g vscode-langservers-extracted`",
        ..DEFAULT
    },
    Row {
        id: "zls",
        commands: &[&["zls"]],
        files: &[(".zig", "zig"), (".zon", "zig")],
        root: Root::Markers(&[&["build.zig", "zls.json"]]),
        unverified: true,
        install: "install zls",
        ..DEFAULT
    },
    Row {
        id: "jdtls",
        commands: &[&["jdtls"]],
        files: &[(".java", "java")],
        root: Root::Markers(&[
            &["settings.gradle", "settings.gradle.kts"],
            &["pom.xml", "build.gradle", "build.gradle.kts", ".classpath"],
        ]),
        ready: Ready::ProgressAfterOpen,
        unverified: true,
        install: "install the Eclipse JDT language server",
        ..DEFAULT
    },
    Row {
        id: "kotlin-lsp",
        commands: &[&["kotlin-lsp", "--stdio"], &["kotlin-language-server"]],
        files: &[(".kt", "kotlin"), (".kts", "kotlin")],
        root: Root::Markers(&[
            &["settings.gradle", "settings.gradle.kts"],
            &["build.gradle", "build.gradle.kts", "pom.xml"],
        ]),
        ready: Ready::ProgressAfterOpen,
        unverified: true,
        install: "install kotlin-lsp",
        ..DEFAULT
    },
    Row {
        id: "sourcekit-lsp",
        commands: &[&["sourcekit-lsp"]],
        files: &[(".swift", "swift")],
        root: Root::Markers(&[&["Package.swift", "buildServer.json"]]),
        unverified: true,
        install: "install a Swift toolchain",
        ..DEFAULT
    },
    Row {
        id: "roslyn",
        commands: &[
            &[
                "Microsoft.CodeAnalysis.LanguageServer",
                "--logLevel=Information",
                "--stdio",
            ],
            &["roslyn-language-server", "--stdio"],
        ],
        files: &[(".cs", "csharp")],
        root: Root::Markers(&[&["*.sln", "*.slnx"], &["*.csproj"]]),
        unverified: true,
        install: "install the Roslyn language server",
        ..DEFAULT
    },
    Row {
        id: "omnisharp",
        commands: &[&["OmniSharp", "-lsp"], &["omnisharp", "-lsp"]],
        files: &[(".cs", "csharp")],
        root: Root::Markers(&[&["*.sln", "*.slnx"], &["*.csproj"], &["omnisharp.json"]]),
        unverified: true,
        install: "install OmniSharp",
        ..DEFAULT
    },
    Row {
        id: "ruby-lsp",
        commands: &[&["ruby-lsp"]],
        files: &[(".rb", "ruby"), (".rake", "ruby"), ("Gemfile", "ruby")],
        root: Root::Markers(&[&["Gemfile", ".ruby-version"]]),
        unverified: true,
        install: "run `gem install ruby-lsp`",
        ..DEFAULT
    },
    Row {
        id: "intelephense",
        commands: &[&["intelephense", "--stdio"]],
        files: &[(".php", "php")],
        root: Root::Markers(&[&["composer.json"], &[".git"]]),
        local: Local::Node,
        settings: r#"{"intelephense":{"telemetry":{"enabled":false}}}"#,
        ready: Ready::ProgressAfterOpen,
        unverified: true,
        install: "run `npm i -g intelephense`",
        ..DEFAULT
    },
    Row {
        id: "elixir",
        commands: &[
            &["expert", "--stdio"],
            &["elixir-ls"],
            &["language_server.sh"],
            &["nextls", "--stdio"],
        ],
        files: &[
            (".ex", "elixir"),
            (".exs", "elixir"),
            (".heex", "phoenix-heex"),
        ],
        root: Root::Markers(&[&["mix.exs"]]),
        unverified: true,
        install: "install expert or elixir-ls",
        ..DEFAULT
    },
    Row {
        id: "hls",
        commands: &[
            &["haskell-language-server-wrapper", "--lsp"],
            &["haskell-language-server", "--lsp"],
        ],
        files: &[(".hs", "haskell"), (".lhs", "literate haskell")],
        root: Root::Markers(&[&[
            "hie.yaml",
            "stack.yaml",
            "cabal.project",
            "package.yaml",
            "*.cabal",
        ]]),
        unverified: true,
        install: "install haskell-language-server",
        ..DEFAULT
    },
    Row {
        id: "ocamllsp",
        commands: &[&["ocamllsp"]],
        files: &[(".ml", "ocaml"), (".mli", "ocaml.interface")],
        root: Root::Markers(&[&["dune-workspace"], &["dune-project", "*.opam"]]),
        unverified: true,
        install: "run `opam install ocaml-lsp-server`",
        ..DEFAULT
    },
    Row {
        id: "nixd",
        commands: &[&["nixd"], &["nil"]],
        files: &[(".nix", "nix")],
        root: Root::Markers(&[&["flake.nix"], &["default.nix", "shell.nix"], &[".git"]]),
        unverified: true,
        install: "install nixd",
        ..DEFAULT
    },
    Row {
        id: "terraform-ls",
        commands: &[&["terraform-ls", "serve"]],
        files: &[(".tf", "terraform"), (".tfvars", "terraform-vars")],
        root: Root::Markers(&[&[".terraform", ".terraform.lock.hcl"], &["*.tf"]]),
        unverified: true,
        install: "install terraform-ls",
        ..DEFAULT
    },
];
