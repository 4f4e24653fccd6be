//! What this client says that it can do.
//!
//! It is written as JSON, because the types of the protocol crate misname a field
//! (`workspace.diagnostics`) and lack experimental ones. What is not named here is not wanted: a server
//! that is told of the pull of diagnostics stops pushing them, so only rows that want it say so.

use serde_json::{Value, json};

/// Returns the capabilities; `pull` says whether diagnostics are asked for rather than waited for.
pub(super) fn client(pull: bool) -> Value {
    let mut capabilities = json!({
        "general": {
            "positionEncodings": ["utf-8", "utf-16", "utf-32"],
            "staleRequestSupport": {
                "cancel": true,
                "retryOnContentModified": []
            }
        },
        // clangd before version 20 knows this one only.
        "offsetEncoding": ["utf-8", "utf-16"],
        "window": {
            "workDoneProgress": true,
            "showMessage": {"messageActionItem": {"additionalPropertiesSupport": false}},
            "showDocument": {"support": false}
        },
        "workspace": {
            "applyEdit": true,
            "configuration": true,
            "workspaceFolders": true,
            "symbol": {
                "dynamicRegistration": false,
                "symbolKind": {"valueSet": (1..=26).collect::<Vec<_>>()}
            },
            "didChangeConfiguration": {"dynamicRegistration": true},
            "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": true},
            "workspaceEdit": {
                "documentChanges": true,
                "resourceOperations": ["create", "rename", "delete"],
                "failureHandling": "abort",
                "normalizesLineEndings": false,
                "changeAnnotationSupport": {"groupsOnLabel": false}
            },
            // A server that is told of `willRename` keeps the edits of a renamed module for that request
            // (rust-analyzer does), which no rename here sends: they would be lost.
            "fileOperations": {"dynamicRegistration": true, "didRename": true}
        },
        "textDocument": {
            "synchronization": {"dynamicRegistration": true, "didSave": true},
            "publishDiagnostics": {
                "versionSupport": true,
                "relatedInformation": true,
                "tagSupport": {"valueSet": [1, 2]},
                "codeDescriptionSupport": true,
                "dataSupport": true
            },
            "definition": {"linkSupport": true},
            "typeDefinition": {"linkSupport": true},
            "implementation": {"linkSupport": true},
            "references": {},
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "documentSymbol": {
                "hierarchicalDocumentSymbolSupport": true,
                "symbolKind": {"valueSet": (1..=26).collect::<Vec<_>>()}
            },
            "callHierarchy": {},
            "typeHierarchy": {},
            "rename": {"prepareSupport": true, "prepareSupportDefaultBehavior": 1},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [
                    "", "quickfix", "refactor", "refactor.extract", "refactor.inline",
                    "refactor.rewrite", "source", "source.organizeImports", "source.fixAll"
                ]}},
                "isPreferredSupport": true,
                "disabledSupport": true,
                "dataSupport": true,
                "resolveSupport": {"properties": ["edit"]}
            }
        },
        "experimental": {"serverStatusNotification": true}
    });
    if pull {
        capabilities["textDocument"]["diagnostic"] =
            json!({"dynamicRegistration": true, "relatedDocumentSupport": true});
        capabilities["workspace"]["diagnostics"] = json!({"refreshSupport": true});
    }
    capabilities
}

/// Returns the section of settings that a server asks for: a dotted path, where an empty one is the whole
/// and an unknown one is null.
pub(super) fn section(settings: &Value, name: &str) -> Value {
    if name.is_empty() {
        return settings.clone();
    }
    // Settings may be written flat (`"a.b": 1`) or nested.
    if let Some(value) = settings.get(name) {
        return value.clone();
    }
    let mut value = settings;
    for part in name.split('.') {
        match value.get(part) {
            Some(inner) => value = inner,
            None => return Value::Null,
        }
    }
    value.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_dotted_paths() {
        let settings = json!({"python": {"analysis": {"mode": 1}}, "a.b": 2});
        assert_eq!(section(&settings, "python.analysis"), json!({"mode": 1}));
        assert_eq!(section(&settings, "a.b"), json!(2));
        assert_eq!(section(&settings, ""), settings);
        assert_eq!(section(&settings, "python.none.mode"), Value::Null);
    }

    // The pull is advertised to those that want it and to no other: it ends the push.
    #[test]
    fn the_pull_is_named_only_where_it_is_wanted() {
        assert!(client(false)["textDocument"]["diagnostic"].is_null());
        assert!(client(false)["workspace"]["diagnostics"].is_null());
        assert!(client(true)["textDocument"]["diagnostic"].is_object());
        assert!(client(true)["workspace"]["diagnostics"].is_object());
    }
}
