# How the notes server is built and set up.
{ pkgs ? import <nixpkgs> { }
, lib ? pkgs.lib
, debug ? false
, ...
}@args:

let
  inherit (lib) mkIf mkOption types optionals;
  inherit (pkgs) stdenv fetchurl;

  version = "1.4.${toString revision}";
  revision = 7;
  port = 8000 + revision;
  ratio = 0.5;

  greet = name: "hello, ${name}";
  add = a: b: a + b;
  withDefault = { name, value ? 1, ... }: name + toString value;

  notes = stdenv.mkDerivation rec {
    pname = "notes";
    inherit version;

    src = fetchurl {
      url = "https://example.org/${pname}-${version}.tar.gz";
      hash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    };

    nativeBuildInputs = with pkgs; [ cmake ninja ] ++ optionals debug [ gdb ];
    buildInputs = [ pkgs.zlib (pkgs.openssl.override { static = true; }) ];

    configurePhase = ''
      runHook preConfigure
      ./configure --prefix=$out ${if debug then "--debug" else ""}
      echo ''${HOME}
      runHook postConfigure
    '';

    doCheck = !debug && stdenv.isLinux;

    meta = {
      description = "A \"small\" notes server";
      license = lib.licenses.mit;
      platforms = lib.platforms.unix;
    };
  };

  modules = [ ./base.nix ../shared/users.nix ];
  users = builtins.map (name: { inherit name; home = "/home/" + name; }) [ "ana" "ben" ];
  table = { "odd key" = 1; ${greet "x"} = 2; a.b.c = null; };
in
assert revision > 0 -> debug || true;
{
  options.services.notes = {
    enable = lib.mkEnableOption "notes";
    port = mkOption {
      type = types.port;
      default = port;
    };
  };

  config = mkIf (args ? enable && args.enable) {
    environment.systemPackages = [ notes ];
    systemd.services.notes = {
      wantedBy = [ "multi-user.target" ];
      serviceConfig = {
        ExecStart = "${notes}/bin/notes --port ${toString port}";
        Restart = "on-failure";
      } // lib.optionalAttrs debug { Environment = "DEBUG=1"; };
    };
  };

  /* What the tests look at. */
  passthru = {
    inherit modules users table ratio;
    sum = add 1 (-2) * 3 / 4;
    first = (builtins.head users).name or "nobody";
    equal = version == "1.4.7" || version != "0";
  };
}
