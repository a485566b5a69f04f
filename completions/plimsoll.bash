# Completion of plimsoll for bash, as `plimsoll completion bash` prints it. The program itself says what may follow.

_plimsoll_files() { # COMPGEN-OPTION...
    local file
    compopt -o filenames 2>/dev/null
    while IFS= read -r file; do
        COMPREPLY+=("$file")
    done < <(compgen "$@" -- "$typed" | sort -u)
}

# The rest of the line is a command of its own; the package bash-completion knows how to complete it.
_plimsoll_command() { # INDEX-IN-WORDS
    local i first=0
    for i in "${!COMP_WORDS[@]}"; do
        [[ $first -eq 0 && ${COMP_WORDS[i]} == -- ]] && first=$((i + 1))
    done
    for i in "${!COMP_WORDS[@]}"; do
        [[ $first -eq 0 && $i -gt 0 && ${COMP_WORDS[i]} == "${words[$1]}" ]] && first=$i
    done
    if declare -F _command_offset >/dev/null; then
        _command_offset "$first"
    elif (($1 + 1 == ${#words[@]})); then
        _plimsoll_files -f -c
    else
        _plimsoll_files -f
    fi
}

_plimsoll() {
    local line=${COMP_LINE:0:COMP_POINT} breaks=${COMP_WORDBREAKS//[^:=]/} words answer entry cut= typed
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    # Readline splits words at : and =, so what is typed before the last one is cut off the answers.
    typed=${words[${#words[@]} - 1]}
    [[ $breaks && $typed == *[$breaks]* ]] && cut=${typed%"${typed##*[$breaks]}"}
    mapfile -t answer < <("$1" completion --answer -- "${words[@]:1}" 2>/dev/null)
    COMPREPLY=()
    for entry in "${answer[@]:1}"; do
        entry=${entry%%$'\t'*}
        [[ $entry == "$typed"* ]] && COMPREPLY+=("${entry#"$cut"}")
    done
    typed=${typed#"$cut"}
    case ${answer[0]} in
    "files "*)
        _plimsoll_files -f -X "!*.${answer[0]#files }"
        if ((${#COMPREPLY[@]})); then _plimsoll_files -d; else _plimsoll_files -f; fi
        ;;
    files) _plimsoll_files -f ;;
    folders) _plimsoll_files -d ;;
    programs) _plimsoll_files -f -c ;;
    command*) _plimsoll_command $((${answer[0]#command } + 1)) ;;
    esac
}

complete -F _plimsoll plimsoll
