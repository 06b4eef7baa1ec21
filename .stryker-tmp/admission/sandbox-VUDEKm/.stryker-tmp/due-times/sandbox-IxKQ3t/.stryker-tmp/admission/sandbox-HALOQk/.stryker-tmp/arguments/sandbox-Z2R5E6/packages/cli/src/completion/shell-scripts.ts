/** The scripts call `herdctl __complete`, so they need no update with new commands. */
export const shellScripts: Record<string, string> = {
  bash: `_herdctl() {
  local word
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    if [ "$word" = ":files" ]; then
      compopt -o default 2>/dev/null
      return
    fi
    COMPREPLY+=("$word")
  done < <("$1" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _herdctl herdctl
`,
  zsh: `#compdef herdctl
_herdctl() {
  local -a found
  local word summary
  while IFS=$'\\t' read -r word summary; do
    if [[ $word == :files ]]; then
      _files
      return
    fi
    found+=("\${word//:/\\\\:}:$summary")
  done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe -V herdctl found
}
if [[ \${funcstack[1]} == _herdctl ]]; then
  _herdctl "$@"
else
  compdef _herdctl herdctl
fi
`,
  fish: `function __herdctl_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($before[1] __complete $before[2..-1] "$current" 2>/dev/null)
    if string match -q ':files*' -- "$found[1]"
        __fish_complete_path "$current"
        return
    end
    printf '%s\\n' $found
end
complete -c herdctl -f -a '(__herdctl_complete)'
`,
};
