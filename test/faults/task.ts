import type { Script } from "@herdctl/rehearsal";

/** What the task does shows in one line of a file. Whoever goes on looks first whether that is done. */
const work = 'echo "$HERDCTL_JOB" >> effects';
const rest = `grep -qx "$HERDCTL_JOB" effects || ${work}`;
/** The prompt is in the transcript by then: no earlier answer can be forgotten. */
const untilWritten = { first: "200ms" };

export const script: Script = {
  rules: [
    { match: { prompt: "was interrupted" }, replies: [bash(rest), "It is done now."] },
    { replies: [{ ...bash(work), delay: untilWritten }, bash("sleep 0.1"), "It is done."] },
  ],
};

/** On another node the task is given anew: whoever begins it looks first as well. */
export const scriptOfNodes: Script = {
  rules: [{ replies: [{ ...bash(rest), delay: untilWritten }, bash("sleep 0.1"), "It is done."] }],
};

function bash(command: string) {
  return { tools: [{ name: "Bash", input: { command } }] };
}
