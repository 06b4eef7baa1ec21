import type { Script } from "@herdctl/rehearsal";

/** The task writes one line to a file. A resumed task first checks whether the line is there. */
const taskCommand = 'echo "$HERDCTL_JOB" >> effects';
const resumeCommand = `grep -qx "$HERDCTL_JOB" effects || ${taskCommand}`;
/** By then the prompt is in the transcript, so that a resumed session knows it. */
const firstReplyDelay = { first: "200ms" };

export const script: Script = {
  rules: [
    {
      match: { prompt: "was interrupted" },
      replies: [bashReply(resumeCommand), "It is done now."],
    },
    {
      replies: [
        { ...bashReply(taskCommand), delay: firstReplyDelay },
        bashReply("sleep 0.1"),
        "It is done.",
      ],
    },
  ],
};

/** Another node starts the task again in a fresh session, so it checks first as well. */
export const clusterScript: Script = {
  rules: [
    {
      replies: [
        { ...bashReply(resumeCommand), delay: firstReplyDelay },
        bashReply("sleep 0.1"),
        "It is done.",
      ],
    },
  ],
};

function bashReply(command: string) {
  return { tools: [{ name: "Bash", input: { command } }] };
}
