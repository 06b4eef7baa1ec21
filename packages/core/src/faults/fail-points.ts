/**
 * The places where tests make a process fail, in the order in which a job passes them. A name says
 * what has just happened there; those that end in `write` stand before a write and can fail it.
 */
export const failPoints = [
  // From a chat message, a due time or a delivery to a job.
  "message heard",
  "message taken",
  "reply begun",
  "reply posted",
  "reply recorded",
  "schedule due",
  "delivery verified",
  "trigger accepted",
  "job stored",
  "chat job known",
  // From the queue to a runner.
  "job claimed",
  "attempt begun",
  "runner spawned",
  // In the runner.
  "runner began",
  "init seen",
  "message seen",
  "message kept",
  "result seen",
  "outcome made",
  "outcome stored",
  "runner done",
  // From its outcome to the end of the job.
  "report read",
  "run settled",
  "job cleaned",
  "hooks decided",
  "hook begun",
  "hook ran",
  "hook recorded",
  "reply finished",
  "message answered",
  // What a fleet does with what another left.
  "recovery begun",
  "attempt void",
  "dead run swept",
  "dead run told",
  "recovery done",
  "hook cut off",
  // Writes.
  "database write",
  "log write",
  "claim write",
  "file write",
] as const;

export type FailPoint = (typeof failPoints)[number];
