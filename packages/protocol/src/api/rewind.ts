/** A message of the user in a session, to which the files can be restored. */
export interface RewindPoint {
  /** The message's ID in the transcript. */
  message: string;
  /** When it was sent; null if the transcript does not say. */
  at: string | null;
  /** The first words of the prompt. */
  prompt: string;
  /** Whether the message was sent by the job, not before or after it. */
  of_job: boolean;
}

export interface RewindOptions {
  /** ID of a message or its unique start; by default, the first message of the job. */
  to?: string;
}

/** Claude Code does not say which files it restored. */
export interface RewindResult {
  session_id: string;
  working_directory: string;
  /** The files are as they were before this message. */
  point: RewindPoint;
}
