#compdef plimsoll
# Completion of plimsoll for zsh, as `plimsoll completion zsh` prints it. The program itself says what may follow.

_plimsoll() {
    local -a answer entries
    local entry ending
    answer=("${(@f)$(${(Q)words[1]} completion --answer -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    for entry in "${(@)answer[2,-1]}"; do
        entries+=("${${entry%%$'\t'*}//:/\\:}:${entry#*$'\t'}")
    done
    (( $#entries )) && _describe -t words 'plimsoll' entries
    case $answer[1] in
    files*|folders|programs)
        compset -P '--*='
        ending=${answer[1]#files }
        case $answer[1] in
        files) _files ;;
        files*) _files -g "*.$ending" || _files ;;
        folders) _files -/ ;;
        programs) _command_names -e; _files ;;
        esac
        ;;
    command*)
        shift ${answer[1]#command } words
        shift words
        (( CURRENT -= ${answer[1]#command } + 1 ))
        _normal
        ;;
    esac
}

if [[ $funcstack[1] == _plimsoll ]]; then
    _plimsoll "$@"
else
    compdef _plimsoll plimsoll
fi
