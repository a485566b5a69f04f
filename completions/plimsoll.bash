# Bash completion for plimsoll. Works without the bash-completion package; with it, the words after `--`
# are completed as a command of their own.

# The first column of each table, without heading and legend.
_plimsoll_gpus() {
    "$1" gpus 2>/dev/null | awk 'NR > 1 && $1 != "~" { print $1 }'
}

# Lines that are not indented name a stack.
_plimsoll_stacks() {
    "$1" stacks 2>/dev/null | awk '/^[^ ]/ { print $1 }'
}

_plimsoll_libraries() {
    "$1" symbols 2>/dev/null | awk 'NR > 1 && $1 == "all" { exit } NR > 1 { print $1 }'
}

# _plimsoll_words WORD...: those that start with what is typed. Readline splits words at ':', so what is
# typed before the last ':' is cut off the answers (MIG profiles have one).
_plimsoll_words() {
    local typed=$cur cut=
    [[ $typed == *:* && $COMP_WORDBREAKS == *:* ]] && cut=${typed%"${typed##*:}"}
    mapfile -t COMPREPLY < <(compgen -W "$*" -- "$typed")
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
}

_plimsoll_files() {
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}

# The word being typed as the user sees it, with the pieces that readline cut at ':' and '=' joined.
_plimsoll_split() {
    local line=${COMP_LINE:0:COMP_POINT} word
    words=() cur=
    for word in $line; do
        words+=("$word")
    done
    [[ $line == *[[:space:]] ]] || { cur=${words[-1]}; unset 'words[-1]'; }
}

_plimsoll() {
    local program=$1 cur words command= previous i as=
    local run='--gpu --gpus --steps --until-exit --detail --assume --stack --bounded --output --force --json --strict --bytes --color'
    local check='--max --what --pessimistic --junit --github --strict --bytes'
    local commands='run report fit tune export import diff check estimate trace describe train evaluate measure calibrate gpus stacks symbols doctor help version'
    local methods='virtual xmem xmem+ dnnmem dnnmem-x llmem schedtune horus horus-1000 faketensor-a faketensor-b faketensor-c
        deepspeed-zero2 deepspeed-zero2-offload deepspeed-zero3 deepspeed-zero3-offload-optimizer deepspeed-zero3-offload
        accelerate activations'
    _plimsoll_split

    for ((i = 1; i < ${#words[@]}; i++)); do
        if [[ ${words[i]} == -- && ${command:-run} == @(run|check|describe|estimate|measure|trace) ]]; then
            # The rest is the user's command.
            if declare -F _command_offset >/dev/null; then
                for ((i = 1; i < ${#COMP_WORDS[@]}; i++)); do
                    [[ ${COMP_WORDS[i]} == -- ]] && break
                done
                _command_offset $((i + 1))
            elif ((i + 1 == ${#words[@]})); then
                _plimsoll_files -f -c
            else
                _plimsoll_files -f
            fi
            return
        fi
        [[ $i == 1 && ${words[i]} != -* ]] && command=${words[i]}
    done
    previous=${words[-1]}
    if [[ $cur == --*=* ]]; then
        previous=${cur%%=*}
        cur=${cur#*=}
    fi

    # A command that is checked has the options of run.
    [[ $command == check && $previous == -* ]] && case $previous in
    --gpu | --gpus | --steps | --detail | --assume | --stack | --output | -o | --json | --color) as=run ;;
    esac
    case ${as:-${command:-run}}:$previous in
    check:--what) _plimsoll_words device_used reserved allocated; return ;;
    check:--max) return ;;
    check:--junit) _plimsoll_files -f; return ;;
    run:--gpu | report:--gpu | estimate:--gpu | evaluate:--gpu) _plimsoll_words "$(_plimsoll_gpus "$program")"; return ;;
    run:--color | report:--color | fit:--color | tune:--color | diff:--color | estimate:--color | evaluate:--color | train:--color | measure:--color) _plimsoll_words auto always never; return ;;
    report:--by) _plimsoll_words module op phase category stack; return ;;
    report:--at) _plimsoll_words peak end; return ;;
    run:--gpus | run:--steps) return ;;
    run:--detail) _plimsoll_words full low off; return ;;
    run:--stack | evaluate:--stack) _plimsoll_words auto none "$(_plimsoll_stacks "$program")"; return ;;
    stacks:--gpu) _plimsoll_words "$(_plimsoll_gpus "$program")"; return ;;
    stacks:--record | calibrate:--record | calibrate:-o | calibrate:--output) _plimsoll_files -f; return ;;
    calibrate:--python) _plimsoll_files -f -c; return ;;
    run:--assume) _plimsoll_words all=true all=false keep=0 keep=1; return ;;
    export:--at) _plimsoll_words peak end; return ;;
    import:--torch) _plimsoll_words 2.6 2.10 2.11 2.15; return ;;
    estimate:--method) _plimsoll_words all $methods; return ;;
    estimate:--forest) _plimsoll_files -f; return ;;
    estimate:--gpus | estimate:--nodes | estimate:--tensor-parallel | estimate:--context) return ;;
    evaluate:--method) _plimsoll_words all $methods; return ;;
    evaluate:--design) _plimsoll_words rows grid montecarlo; return ;;
    evaluate:--reference) _plimsoll_words virtual; return ;;
    evaluate:--anova) _plimsoll_words absolute signed none; return ;;
    evaluate:--truth) _plimsoll_words allocated reserved device device-less-first; return ;;
    measure:--family | measure:--model | measure:--run | measure:--batch | measure:--interval) return ;;
    train:--method) _plimsoll_words schedtune; return ;;
    train:--seed | train:--trees) return ;;
    evaluate:--draws | evaluate:--seed | evaluate:--jobs | evaluate:-j | evaluate:--match | evaluate:-k) return ;;
    evaluate:--workloads | evaluate:--output | evaluate:-o) _plimsoll_files -d; return ;;
    run:-o | run:--output | run:--json | report:--html | export:-o | export:--output | measure:-o | measure:--output | train:-o | train:--output | import:-o | import:--output) _plimsoll_files -f; return ;;
    trace:-o | trace:--output | describe:-o | describe:--output) _plimsoll_files -f; return ;;
    trace:--iterations) return ;;
    symbols:--library) _plimsoll_words "$(_plimsoll_libraries "$program")"; return ;;
    esac
    case $command in
    '')
        if [[ ${#words[@]} -eq 1 ]]; then
            _plimsoll_words $commands $run -- --help --version
        else
            _plimsoll_words $run --
        fi
        ;;
    run)
        if [[ $cur == -* ]]; then _plimsoll_words $run --; else _plimsoll_files -f -c; fi
        ;;
    report)
        if [[ $cur == -* ]]; then _plimsoll_words --by --at --gpu --json --html --bytes --color; else _plimsoll_files -f; fi
        ;;
    fit)
        if [[ $cur == -* ]]; then
            _plimsoll_words --gpu --margin --pessimistic --strict --all --json --bytes --color
        else
            _plimsoll_files -f
        fi
        ;;
    tune)
        if [[ $cur == -* ]]; then _plimsoll_words --gpu --margin --all --json --bytes --color; else _plimsoll_files -f; fi
        ;;
    export)
        if [[ $cur == -* ]]; then
            _plimsoll_words --csv --jsonl --snapshot --perfetto --speedscope --folded --at --output --force --fields --formats
        else
            _plimsoll_files -f
        fi
        ;;
    import)
        if [[ $cur == -* ]]; then _plimsoll_words --output --force --verify --torch --json; else _plimsoll_files -f; fi
        ;;
    diff)
        if [[ $cur == -* ]]; then _plimsoll_words --json --bytes --color; else _plimsoll_files -f; fi
        ;;
    check)
        if [[ $cur == -* ]]; then _plimsoll_words $check $run --; else _plimsoll_files -f; fi
        ;;
    estimate)
        if [[ $cur == -* ]]; then
            _plimsoll_words --method --gpu --gpus --nodes --tensor-parallel --forest --context --json --bytes --color --
        else
            _plimsoll_files -f
        fi
        ;;
    evaluate)
        if [[ $cur == -* ]]; then
            _plimsoll_words --method --forest --workloads --python --jobs --gpu --stack --truth --late-sample --design --draws --seed \
                --levels --reference --plan --disturbed --anova --match --output --resume --force --keep --json --csv --figures \
                --html --bytes --color
        else
            _plimsoll_files -f
        fi
        ;;
    measure)
        if [[ $cur == -* ]]; then
            _plimsoll_words --output --family --model --run --batch --interval --bytes --color --
        else
            _plimsoll_files -f -c
        fi
        ;;
    train)
        if [[ $cur == -* ]]; then _plimsoll_words --method --output --force --seed --trees --json --color; else _plimsoll_files -f; fi
        ;;
    gpus)
        if [[ $cur == -* ]]; then _plimsoll_words --json; else _plimsoll_words "$(_plimsoll_gpus "$program")"; fi
        ;;
    stacks)
        if [[ $cur == -* ]]; then _plimsoll_words --json --gpu --record; else _plimsoll_words "$(_plimsoll_stacks "$program")"; fi
        ;;
    trace)
        if [[ $cur == -* ]]; then _plimsoll_words --output --force --no-compute --iterations --; else _plimsoll_files -f -c; fi
        ;;
    describe)
        if [[ $cur == -* ]]; then _plimsoll_words --output --force --compute --; else _plimsoll_files -f -c; fi
        ;;
    calibrate) _plimsoll_words --record --output --force --python --list --rows-only ;;
    symbols) _plimsoll_words --library --json ;;
    doctor) _plimsoll_files -f -c ;;
    esac
}

complete -F _plimsoll plimsoll
