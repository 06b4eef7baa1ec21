import type { Defence } from "../defence.ts";

const redactorTest = "test/runner/redactor.test.ts";

export const secretDefences: readonly Defence[] = [
  {
    name: "known secrets are replaced in what a run shows",
    guards: "secrets, against agents and tools that print them",
    edit: {
      file: "packages/core/src/runner/redactor.ts",
      from: "clean.replaceAll(form, () => mask)",
      to: "clean",
    },
    red: { file: redactorTest, test: "a secret is replaced as it is" },
  },
  {
    name: "messages of a run are redacted before they are stored or sent",
    guards: "secrets, against a tool that prints them",
    edit: {
      file: "packages/core/src/runner/running-attempt.ts",
      from: "yield* this.redactor.messages(message);",
      to: "yield message;",
    },
    red: { file: "test/runner/job.test.ts", test: "a secret of `.env` that a tool prints" },
  },
  {
    name: "a log that is completed after a crash is redacted",
    guards: "secrets, against a run whose runner died",
    edit: {
      file: "packages/core/src/runner-process/recover.ts",
      from: "agent ? knownSecrets(agent, environment) : secretValues(environment)",
      to: "agent ? [] : secretValues(environment)",
    },
    red: {
      file: "test/runner-process/recovery.test.ts",
      test: "a secret of `.env` in the transcript is not added",
    },
  },
  {
    name: "standard error is redacted before it is stored",
    guards: "secrets, against programs that print them in their errors",
    edit: {
      file: "packages/core/src/runner/stderr-log.ts",
      from: "this.keep(this.redacted.add(text));",
      to: "this.keep(text);",
    },
    red: { file: redactorTest, test: "standard error is kept without secrets" },
  },
  {
    name: "a secret in partial messages is held back until it is whole",
    guards: "secrets, against being shown piece by piece",
    edit: {
      file: "packages/core/src/runner/redactor.ts",
      from: "const end = whole.length - this.openEnd(whole);",
      to: "const end = whole.length;",
    },
    red: { file: redactorTest, test: "a secret that is split over partial messages" },
  },
  {
    name: "literal secrets of the configuration are masked",
    guards: "webhook addresses and keys, against the read-only token",
    edit: {
      file: "packages/core/src/config/show.ts",
      from: "return maskLiteral(path, value, previous);",
      to: "return previous === undefined ? value : maskLiteral(path, value, previous);",
    },
    red: { file: "test/config/show.test.ts", test: "literal secrets in addresses and arguments" },
  },
];
