# Completion of plimsoll for fish, as `plimsoll completion fish` prints it. The program itself says what may follow.

function __plimsoll_files # ENDING
    set -l token (string replace -r -- '^(--[^=]*=).*' '$1' (commandline -ct))
    string match -q -- '--*=' $token; or set token ''
    set -l typed (string replace -- "$token" '' (commandline -ct))
    set -l found (__fish_complete_path $typed)
    set -l chosen (string match -r -- "^.*(?:/|\.$argv[1])(?:\t.*)?\$" $found)
    test -n "$argv[1]" -a -n "$chosen"; and set found $chosen
    for file in $found
        echo $token$file
    end
end

function __plimsoll_answer
    set -l words (commandline -opc)
    set -l answer ($words[1] completion --answer -- $words[2..] (commandline -ct) 2>/dev/null)
    for entry in $answer[2..]
        echo $entry
    end
    set -l kind (string split ' ' -- $answer[1])
    switch "$kind[1]"
        case files
            __plimsoll_files $kind[2]
        case folders
            __fish_complete_directories (commandline -ct) ''
        case programs
            complete -C (commandline -ct)
            __fish_complete_path (commandline -ct)
        case command
            # What follows is completed as a command of its own.
            set -l from (math $kind[2] + 2)
            set -l rest $words[$from..]
            complete -C (string join ' ' -- (string escape -- $rest) (commandline -ct))
    end
end

complete -c plimsoll -f -a '(__plimsoll_answer)'
