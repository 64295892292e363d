# What ./start and ./test share: is everything in place, and if not, who puts it there?
# Sourced with $here set to the folder of the checkout.

# Tells what is wrong with each Python, in syntax that every Python reads.
python_probe='
import sys
version = sys.version_info[:2]
if not (3, 11) <= version <= (3, 14):
    print("is %d.%d" % version)
else:
    try:
        import ensurepip, venv
        print("fits")
    except ImportError:
        print("is %d.%d but lacks venv" % version)
'

# Sets $python to the first Python that fits, or says in one line what to install.
find_python() {
    found=
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.14 python3.11 python}; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        if ! verdict=$("$candidate" -c "$python_probe" 2>/dev/null); then
            # The shim of a version manager, for a version that it does not have.
            continue
        fi
        if [ "$verdict" = fits ]; then
            python=$candidate
            return
        fi
        found="$found${found:+, }$candidate $verdict"
    done
    case $found in
    *"lacks venv"*)
        needed="Python's venv module" get="sudo apt-get install python3-venv"
        ;;
    *)
        needed="Python 3.11 to 3.14"
        get="sudo apt-get install python3 python3-venv (Debian 12, Ubuntu 24.04 or newer), brew install python@3.13 (macOS)"
        ;;
    esac
    echo "OpenFlow needs $needed (found: ${found:-none${PYTHON:+ that PYTHON=$PYTHON names}}). Get it with: $get; or name one with PYTHON=/path/to/python." >&2
    exit 2
}

# ensure_environment KIND FILE...: makes .venv hold what the files lock, if it does not yet.
# Extra arguments for the set-up are in $setup_options.
ensure_environment() {
    kind=$1
    shift
    stamp="$here
$(cd "$here" && cksum "$@")"
    stamp_file=$here/.venv/openflow-$kind.stamp
    if [ -z "$setup_options" ] && [ -x "$here/.venv/bin/python" ] && [ -f "$stamp_file" ] &&
        [ "$(cat "$stamp_file")" = "$stamp" ]; then
        return
    fi
    find_python
    # shellcheck disable=SC2086  # the options are words
    "$python" "$here/packaging/environment.py" "$kind" --stamp "$stamp" $setup_options || exit
}
