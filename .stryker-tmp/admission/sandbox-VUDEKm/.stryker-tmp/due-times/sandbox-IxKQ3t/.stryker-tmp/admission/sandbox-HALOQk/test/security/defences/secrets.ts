import type { Defence } from "../defence.ts";

const redactorTest = "test/runner/redact-secrets.test.ts";

export const secretDefences: readonly Defence[] = [
  {
    name: "known secrets are replaced in a run's output",
    protects: "secrets, against agents and tools that print them",
    mark: "secret-replaced",
    without: "$1",
    failingTest: { file: redactorTest, test: "replaces a secret as plain text" },
  },
  {
    name: "messages of a run are redacted before they are stored or sent",
    protects: "secrets, against a tool that prints them",
    mark: "redacted-messages",
    without: "yield $3;",
    failingTest: {
      file: "test/runner/run-job.test.ts",
      test: "removes a secret of `.env` that a tool prints from every message, file and summary",
    },
  },
  {
    name: "a log that is completed after a crash is redacted",
    protects: "secrets, against a run whose runner died",
    mark: "redacted-recovery",
    without: "[]",
    failingTest: {
      file: "test/runner/recovery.test.ts",
      test: "adds no secret of `.env` from the transcript to the log or the report",
    },
  },
  {
    name: "standard error is redacted before it is stored",
    protects: "secrets, against programs that print them in errors",
    mark: "redacted-stderr",
    without: "$expression.expression($4);",
    failingTest: {
      file: redactorTest,
      test: "keeps standard error without secrets in the file and as evidence",
    },
  },
  {
    name: "a secret in partial messages is held back until it is complete",
    protects: "secrets, against being shown piece by piece",
    mark: "split-secret-held",
    without: "$left",
    failingTest: {
      file: redactorTest,
      test: "replaces a secret that is split over partial messages",
    },
  },
  {
    name: "literal secrets of the configuration are masked",
    protects: "webhook addresses and keys, against the read-only token",
    mark: "literal-secrets-masked",
    without: "return $4 === undefined ? $3 : $expression;",
    failingTest: {
      file: "test/config/show-config.test.ts",
      test: "masks literal secrets in addresses and arguments and keeps the rest readable",
    },
  },
];
