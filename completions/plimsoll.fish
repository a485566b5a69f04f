# Fish completion for plimsoll.

function __plimsoll_gpus
    plimsoll gpus 2>/dev/null | awk 'NR > 1 && $1 != "~" { id = $1; sub(/^.*iB[ ~] +/, ""); print id "\t" $0 }'
end

function __plimsoll_stacks
    plimsoll stacks 2>/dev/null | awk '/^[^ ]/ { print $1 }'
end

function __plimsoll_libraries
    plimsoll symbols 2>/dev/null | awk 'NR > 1 && $1 == "all" { exit } NR > 1 { print $1 }'
end

# The sub-command; `run` when the first word is an option. Fails while none is typed.
function __plimsoll_command
    set -l words (commandline -opc)
    set -q words[2]; or return 1
    string match -q -- '-*' $words[2]; and echo run; or echo $words[2]
end

function __plimsoll_is
    test "$(__plimsoll_command)" = $argv[1]
end

function __plimsoll_runs
    __plimsoll_is run; or __plimsoll_is check
end

# Options of run may stand before `--` or the command.
function __plimsoll_in_run
    __plimsoll_command >/dev/null; or return 0
    __plimsoll_runs; and not contains -- -- (commandline -opc)
end

function __plimsoll_in_job
    begin; __plimsoll_runs; or __plimsoll_is describe; or __plimsoll_is estimate; or __plimsoll_is measure; or __plimsoll_is trace; end; and contains -- -- (commandline -opc)
end

# What follows `--`, completed as a command of its own.
function __plimsoll_job
    set -l words (commandline -opc) (commandline -ct)
    set -l at (contains -i -- -- $words)
    complete -C (string join -- ' ' (string escape -- $words[(math $at + 1)..-2]) $words[-1])
end

complete -c plimsoll -f
complete -c plimsoll -n 'not __plimsoll_command' -a run -d 'run a command on the virtual GPU'
complete -c plimsoll -n 'not __plimsoll_command' -a report -d 'show a report again'
complete -c plimsoll -n 'not __plimsoll_command' -a export -d 'export a job record'
complete -c plimsoll -n 'not __plimsoll_command' -a import -d 'import a memory snapshot'
complete -c plimsoll -n 'not __plimsoll_command' -a fit -d 'which cards a recorded job fits on'
complete -c plimsoll -n 'not __plimsoll_command' -a tune -d 'the allocator setting that reserves least'
complete -c plimsoll -n 'not __plimsoll_command' -a diff -d 'what grew between two records'
complete -c plimsoll -n 'not __plimsoll_command' -a check -d 'hold a job against a limit'
complete -c plimsoll -n 'not __plimsoll_command' -a estimate -d 'what the published methods say'
complete -c plimsoll -n 'not __plimsoll_command' -a trace -d 'run on the CPU under the profiler'
complete -c plimsoll -n 'not __plimsoll_command' -a describe -d 'write down model, batch, optimizer'
complete -c plimsoll -n 'not __plimsoll_command' -a evaluate -d 'measure accuracy against real runs'
complete -c plimsoll -n 'not __plimsoll_command' -a measure -d 'measure a command on a real GPU'
complete -c plimsoll -n 'not __plimsoll_command' -a train -d 'train a method that learns'
complete -c plimsoll -n 'not __plimsoll_command' -a gpus -d 'list the known GPUs'
complete -c plimsoll -n 'not __plimsoll_command' -a calibrate -d 'measure what libraries take on a GPU'
complete -c plimsoll -n 'not __plimsoll_command' -a stacks -d 'list the known software stacks'
complete -c plimsoll -n 'not __plimsoll_command' -a symbols -d 'show covered CUDA entry points'
complete -c plimsoll -n 'not __plimsoll_command' -a doctor -d 'check machine and PyTorch'
complete -c plimsoll -n 'not __plimsoll_command' -a help -d 'show help'
complete -c plimsoll -n 'not __plimsoll_command' -a version -d 'show the version'
complete -c plimsoll -n 'not __plimsoll_command' -l help -d 'show help'
complete -c plimsoll -n 'not __plimsoll_command' -l version -d 'show the version'

complete -c plimsoll -n __plimsoll_in_run -l gpu -x -a '(__plimsoll_gpus)' -d 'the card to play'
complete -c plimsoll -n __plimsoll_in_run -l gpus -x -d 'how many of them'
complete -c plimsoll -n __plimsoll_in_run -l steps -x -d 'stop after N optimizer steps, 0 = never'
complete -c plimsoll -n __plimsoll_in_run -l until-exit -d 'let the command run to its end'
complete -c plimsoll -n __plimsoll_in_run -l detail -x -a 'full low off' -d 'what is recorded besides memory'
complete -c plimsoll -n __plimsoll_in_run -l stack -r -a 'auto none (__plimsoll_stacks)' -d 'the stack file for library memory'
complete -c plimsoll -n __plimsoll_in_run -l assume -x -a 'all=true all=false keep=0 keep=1' -d 'values that no kernel computed'
complete -c plimsoll -n __plimsoll_in_run -l bounded -d 'only the usable memory of the card'
complete -c plimsoll -n __plimsoll_in_run -s o -l output -r -F -d 'the job record'
complete -c plimsoll -n __plimsoll_in_run -s f -l force -d 'replace the job record'
complete -c plimsoll -n __plimsoll_in_run -l json -r -F -d 'also write the report as JSON'
complete -c plimsoll -n __plimsoll_in_run -l strict -d 'exit 4 unless the confidence is high'
complete -c plimsoll -n __plimsoll_in_run -l bytes -d 'bytes instead of GiB'
complete -c plimsoll -n __plimsoll_in_run -l color -x -a 'auto always never' -d colours
complete -c plimsoll -n __plimsoll_in_job -a '(__plimsoll_job)'

complete -c plimsoll -n '__plimsoll_is report' -F
complete -c plimsoll -n '__plimsoll_is report' -l by -x -a 'module op phase category stack' -d 'who holds the memory'
complete -c plimsoll -n '__plimsoll_is report' -l at -x -a 'peak end' -d 'the moment, or a step'
complete -c plimsoll -n '__plimsoll_is report' -l gpu -x -a '(__plimsoll_gpus)' -d 'does it fit on these'
complete -c plimsoll -n '__plimsoll_is report' -l json -d 'print JSON'
complete -c plimsoll -n '__plimsoll_is report' -l html -r -F -d 'write a page for the browser'
complete -c plimsoll -n '__plimsoll_is report' -l bytes -d 'bytes instead of GiB'
complete -c plimsoll -n '__plimsoll_is report' -l color -x -a 'auto always never' -d colours

complete -c plimsoll -n '__plimsoll_is export' -F
complete -c plimsoll -n '__plimsoll_is export' -l csv -d 'all events as a table'
complete -c plimsoll -n '__plimsoll_is export' -l jsonl -d 'all events as JSON lines'
complete -c plimsoll -n '__plimsoll_is export' -l snapshot -d 'for the memory viewer of PyTorch'
complete -c plimsoll -n '__plimsoll_is export' -l perfetto -d 'for Perfetto and chrome://tracing'
complete -c plimsoll -n '__plimsoll_is export' -l speedscope -d 'for speedscope'
complete -c plimsoll -n '__plimsoll_is export' -l folded -d 'for flamegraph.pl'
complete -c plimsoll -n '__plimsoll_is export' -l at -x -a 'peak end' -d 'which moment'
complete -c plimsoll -n '__plimsoll_is export' -s o -l output -r -F -d 'write to a file'
complete -c plimsoll -n '__plimsoll_is export' -s f -l force -d 'replace the file'
complete -c plimsoll -n '__plimsoll_is export' -l fields -d 'list the fields of events'
complete -c plimsoll -n '__plimsoll_is export' -l formats -d 'list the formats'

complete -c plimsoll -n '__plimsoll_is import' -F
complete -c plimsoll -n '__plimsoll_is import' -s o -l output -r -F -d 'the job record'
complete -c plimsoll -n '__plimsoll_is import' -s f -l force -d 'replace the job record'
complete -c plimsoll -n '__plimsoll_is import' -l verify -d 'replay it and compare'
complete -c plimsoll -n '__plimsoll_is import' -l torch -x -a '2.6 2.10 2.11 2.15' -d 'by the rules of this version'
complete -c plimsoll -n '__plimsoll_is import' -l json -d 'print JSON'

complete -c plimsoll -n '__plimsoll_is fit' -F
complete -c plimsoll -n '__plimsoll_is fit' -l gpu -x -a '(__plimsoll_gpus)' -d 'only these cards'
complete -c plimsoll -n '__plimsoll_is fit' -l margin -x -d 'leave so much free'
complete -c plimsoll -n '__plimsoll_is fit' -l pessimistic -d 'count tight as no'
complete -c plimsoll -n '__plimsoll_is fit' -l strict -d 'exit 4 unless certain'
complete -c plimsoll -n '__plimsoll_is fit' -l all -d 'show every card'
complete -c plimsoll -n '__plimsoll_is fit' -l json -d 'print JSON'
complete -c plimsoll -n '__plimsoll_is fit' -l bytes -d 'bytes instead of GiB'
complete -c plimsoll -n '__plimsoll_is fit' -l color -x -a 'auto always never' -d 'colours'
complete -c plimsoll -n '__plimsoll_is tune' -F
complete -c plimsoll -n '__plimsoll_is tune' -l gpu -x -a '(__plimsoll_gpus)' -d 'on this card'
complete -c plimsoll -n '__plimsoll_is tune' -l margin -x -d 'leave so much free'
complete -c plimsoll -n '__plimsoll_is tune' -l all -d 'show every setting'
complete -c plimsoll -n '__plimsoll_is tune' -l json -d 'print JSON'
complete -c plimsoll -n '__plimsoll_is tune' -l bytes -d 'bytes instead of GiB'
complete -c plimsoll -n '__plimsoll_is tune' -l color -x -a 'auto always never' -d 'colours'
complete -c plimsoll -n '__plimsoll_is diff' -F
complete -c plimsoll -n '__plimsoll_is diff' -l json -d 'print JSON'
complete -c plimsoll -n '__plimsoll_is diff' -l bytes -d 'bytes instead of GiB'
complete -c plimsoll -n '__plimsoll_is diff' -l color -x -a 'auto always never' -d colours

complete -c plimsoll -n '__plimsoll_is check' -F
complete -c plimsoll -n '__plimsoll_is check' -l max -x -d 'the limit'
complete -c plimsoll -n '__plimsoll_is check' -l what -x -a 'device_used reserved allocated' -d 'what is compared'
complete -c plimsoll -n '__plimsoll_is check' -l pessimistic -d 'compare the high end of the range'
complete -c plimsoll -n '__plimsoll_is check' -l junit -r -F -d 'write JUnit XML'
complete -c plimsoll -n '__plimsoll_is check' -l github -d 'print an annotation'

complete -c plimsoll -n '__plimsoll_is stacks' -l json -d 'print JSON'
complete -c plimsoll -n '__plimsoll_is stacks' -l gpu -x -a '(__plimsoll_gpus)' -d 'mark those of this card'
complete -c plimsoll -n '__plimsoll_is stacks' -l record -r -d 'mark those that go with a job'
complete -c plimsoll -n '__plimsoll_is stacks' -a '(__plimsoll_stacks)'
complete -c plimsoll -n '__plimsoll_is trace' -s o -l output -r -d 'the trace'
complete -c plimsoll -n '__plimsoll_is trace' -s f -l force -d 'replace the file'
complete -c plimsoll -n '__plimsoll_is trace' -l no-compute -d 'make memory, no values'
complete -c plimsoll -n '__plimsoll_is trace' -l iterations -x -d 'how many'
complete -c plimsoll -n '__plimsoll_is describe' -s o -l output -r -d 'the document'
complete -c plimsoll -n '__plimsoll_is describe' -s f -l force -d 'replace the file'
complete -c plimsoll -n '__plimsoll_is describe' -l compute -d 'calculate'
complete -c plimsoll -n '__plimsoll_is calibrate' -l record -r -d 'the job to measure for'
complete -c plimsoll -n '__plimsoll_is calibrate' -s o -l output -r -d 'the stack file'
complete -c plimsoll -n '__plimsoll_is calibrate' -s f -l force -d 'replace the file'
complete -c plimsoll -n '__plimsoll_is calibrate' -l python -r -d 'the interpreter with PyTorch'
complete -c plimsoll -n '__plimsoll_is calibrate' -l list -d 'print what would be measured'
complete -c plimsoll -n '__plimsoll_is calibrate' -l rows-only -d 'not the memory of card and libraries'
complete -c plimsoll -n '__plimsoll_is gpus' -l json -d 'print JSON'
complete -c plimsoll -n '__plimsoll_is gpus' -a '(__plimsoll_gpus)'

complete -c plimsoll -n '__plimsoll_is symbols' -l library -x -a '(__plimsoll_libraries)' -d 'list one library'
complete -c plimsoll -n '__plimsoll_is symbols' -l json -d 'print JSON'

complete -c plimsoll -n '__plimsoll_is doctor' -F -a '(__fish_complete_command)'
complete -c plimsoll -n '__plimsoll_is estimate' -F
complete -c plimsoll -n '__plimsoll_is estimate' -l method -x -a 'all virtual xmem xmem+ dnnmem dnnmem-x llmem schedtune horus horus-1000 faketensor-a faketensor-b faketensor-c deepspeed-zero2 deepspeed-zero2-offload deepspeed-zero3 deepspeed-zero3-offload-optimizer deepspeed-zero3-offload accelerate activations' -d 'only these methods'
complete -c plimsoll -n '__plimsoll_is estimate' -l gpu -x -a '(__plimsoll_gpus)' -d 'does it fit on these'
complete -c plimsoll -n '__plimsoll_is estimate' -l gpus -x -d 'on so many GPUs together'
complete -c plimsoll -n '__plimsoll_is estimate' -l nodes -x -d 'spread over so many machines'
complete -c plimsoll -n '__plimsoll_is estimate' -l tensor-parallel -x -d 'so many share each layer'
complete -c plimsoll -n '__plimsoll_is estimate' -l forest -r -F -d 'the forest of plimsoll train'
complete -c plimsoll -n '__plimsoll_is estimate' -l context -x -d 'what the process takes beside its allocations'
complete -c plimsoll -n '__plimsoll_is estimate' -l json -d 'print JSON'
complete -c plimsoll -n '__plimsoll_is estimate' -l bytes -d 'bytes instead of GiB'
complete -c plimsoll -n '__plimsoll_is estimate' -l color -x -a 'auto always never' -d 'colours'

complete -c plimsoll -n '__plimsoll_is evaluate' -F
complete -c plimsoll -n '__plimsoll_is evaluate' -l workloads -x -a '(__fish_complete_directories)' -d 'scripts of the families'
complete -c plimsoll -n '__plimsoll_is evaluate' -l python -r -d 'the interpreter that has PyTorch'
complete -c plimsoll -n '__plimsoll_is evaluate' -s j -l jobs -x -d 'runs at the same time'
complete -c plimsoll -n '__plimsoll_is evaluate' -l gpu -x -a '(__plimsoll_gpus)' -d 'instead of the card in each row'
complete -c plimsoll -n '__plimsoll_is evaluate' -l stack -r -d 'the stack file of the runs'
complete -c plimsoll -n '__plimsoll_is evaluate' -l truth -x -a 'allocated reserved device device-less-first' -d 'what was measured'
complete -c plimsoll -n '__plimsoll_is evaluate' -l late-sample -d 'model a first sample that came late'
complete -c plimsoll -n '__plimsoll_is evaluate' -l method -x -a 'all virtual xmem xmem+ dnnmem dnnmem-x llmem schedtune horus faketensor-b faketensor-c accelerate' -d 'methods to ask'
complete -c plimsoll -n '__plimsoll_is evaluate' -l forest -r -d 'what plimsoll train made'
complete -c plimsoll -n '__plimsoll_is evaluate' -l design -x -a 'rows grid montecarlo' -d 'which runs'
complete -c plimsoll -n '__plimsoll_is evaluate' -l draws -x -d 'of a Monte Carlo'
complete -c plimsoll -n '__plimsoll_is evaluate' -l seed -x -d 'of draws and bootstrap'
complete -c plimsoll -n '__plimsoll_is evaluate' -l levels -r -a 'file workloads' -d 'what a design takes its levels from'
complete -c plimsoll -n '__plimsoll_is evaluate' -l reference -x -a virtual -d 'for runs without truth'
complete -c plimsoll -n '__plimsoll_is evaluate' -l plan -r -d 'write the runs down, make none'
complete -c plimsoll -n '__plimsoll_is evaluate' -l disturbed -d 'use rows that were disturbed'
complete -c plimsoll -n '__plimsoll_is evaluate' -l anova -x -a 'absolute signed none' -d 'what errors depend on'
complete -c plimsoll -n '__plimsoll_is evaluate' -l keep -d 'leave the captures'
complete -c plimsoll -n '__plimsoll_is evaluate' -s k -l match -x -d 'only rows that contain this'
complete -c plimsoll -n '__plimsoll_is evaluate' -s o -l output -x -a '(__fish_complete_directories)' -d 'keep the results here'
complete -c plimsoll -n '__plimsoll_is evaluate' -l resume -d 'go on with the results'
complete -c plimsoll -n '__plimsoll_is evaluate' -s f -l force -d 'replace the results'
complete -c plimsoll -n '__plimsoll_is evaluate' -l json -r -d 'write JSON'
complete -c plimsoll -n '__plimsoll_is evaluate' -l csv -r -d 'write a table of all runs'
complete -c plimsoll -n '__plimsoll_is evaluate' -l figures -r -d 'write a table of all figures'
complete -c plimsoll -n '__plimsoll_is evaluate' -l html -r -d 'write a page with plots'
complete -c plimsoll -n '__plimsoll_is evaluate' -l bytes -d 'bytes instead of GiB'
complete -c plimsoll -n '__plimsoll_is evaluate' -l color -x -a 'auto always never' -d 'colours'

complete -c plimsoll -n '__plimsoll_is train' -F
complete -c plimsoll -n '__plimsoll_is train' -l method -x -a schedtune -d 'which method'
complete -c plimsoll -n '__plimsoll_is train' -s o -l output -r -F -d 'the forest'
complete -c plimsoll -n '__plimsoll_is train' -s f -l force -d 'replace the forest'
complete -c plimsoll -n '__plimsoll_is train' -l seed -x -d 'another draw'
complete -c plimsoll -n '__plimsoll_is train' -l trees -x -d 'how many trees'
complete -c plimsoll -n '__plimsoll_is train' -l json -d 'print JSON'
complete -c plimsoll -n '__plimsoll_is train' -l color -x -a 'auto always never' -d 'colours'

complete -c plimsoll -n '__plimsoll_is measure' -s o -l output -r -F -d 'the truth file'
complete -c plimsoll -n '__plimsoll_is measure' -l family -x -d 'family of models'
complete -c plimsoll -n '__plimsoll_is measure' -l model -x -d 'name of the model'
complete -c plimsoll -n '__plimsoll_is measure' -l run -x -d 'name of the row'
complete -c plimsoll -n '__plimsoll_is measure' -l batch -x -d 'batch size'
complete -c plimsoll -n '__plimsoll_is measure' -l interval -x -d 'milliseconds between samples'
complete -c plimsoll -n '__plimsoll_is measure' -l bytes -d 'bytes instead of GiB'
complete -c plimsoll -n '__plimsoll_is measure' -l color -x -a 'auto always never' -d 'colours'
