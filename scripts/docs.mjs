// Writes the pages that are made from the product itself; `--check` only says whether they are fresh.
import { errorTable, exitCodes, jsonSchema, outcomeCodes, outcomes } from "@herdctl/core";
import { openApiDocument } from "@herdctl/server";
import { speedPages } from "../bench/pages.mjs";
import { readRecord, recordFile } from "../bench/record.mjs";
import { commandSections } from "./command-pages.mjs";
import { commandTable } from "./command-table.mjs";
import { errorRows, exitTable } from "./error-table.mjs";
import { fieldTables } from "./field-tables.mjs";
import { outcomeTables } from "./outcome-table.mjs";
import { eventTable, routeTable } from "./route-table.mjs";
import { writePages } from "./write-pages.mjs";

const onlyCheck = process.argv.includes("--check");
const pages = {
  "docs/reference/configuration.md": configurationPage(),
  "docs/reference/control-api.md": controlApiPage(),
  "docs/reference/cli.md": await commandsPage(),
  "docs/reference/outcomes.md": outcomesPage(),
  "docs/reference/errors.md": errorsPage(),
  ...speedPages(readRecord(recordFile)),
};
for (const path of writePages(pages, { onlyCheck })) {
  if (onlyCheck) {
    process.stderr.write(`${path} is stale: run \`node scripts/docs.mjs\`\n`);
    process.exitCode = 1;
  } else process.stdout.write(`${path}\n`);
}

function configurationPage() {
  return `# Configuration reference

Made by \`scripts/docs.mjs\` from the schema that checks the files; do not edit it by hand. The
[guide](../configuration.md) explains how the files work together.

A dot stands for a block inside a block, \`<name>\` for a name you choose, \`[]\` for each item of a
list. A required field is required within its block. Every value may be, or contain,
\`\${VARIABLE}\` or \`\${VARIABLE:-default}\`.

## Fleet file: \`herdctl.yaml\`

${fieldTables(jsonSchema("fleet"))}

## Agent

What stands in an agent file and in an agent written into the fleet file. \`defaults\` and
\`overrides\` take any part of it but the name.

*Trust* says what an agent file with limited trust may do with the field when its agent runs in
Docker: \`free\` any value, \`stricter\` nothing weaker than the fleet file or the default,
\`granted\` only what its entry in the fleet file grants, \`fleet\` nothing
([trust](../configuration.md#trust)).

${fieldTables(jsonSchema("agent"), { withTrust: true })}
`;
}

function controlApiPage() {
  const document = openApiDocument();
  return `# Control API reference

Made by \`scripts/docs.mjs\` from the contract that the server and its client share; do not edit it
by hand. The [guide](../control-api.md) shows how to call it. \`GET /v1/openapi.json\` gives the
whole contract, with every field of every answer, as an OpenAPI 3.1 document.

What begins with \`?\` stands in the query, the rest is the JSON body.

${routeTable(document)}

## Events

${eventTable(document)}
`;
}

async function commandsPage() {
  const { commands } = await commandTable();
  return `# Command reference

Made by \`scripts/docs.mjs\` from the table that the program itself goes by; do not edit it by hand.
\`herdctl --help\`, and \`--help\` after any command, say the same in a terminal.

\`<name>\` is needed, \`[name]\` can be left out. Every command takes \`--json\`. The fleet file is looked
for in this folder and in those above it, unless \`--config\` names it. A command that waits for a job
ends with 0, 1 or 4 by its outcome; [errors](errors.md) and [outcomes](outcomes.md) say what to do.

## Exit codes

${exitTable(exitCodes)}

${commandSections(commands)}
`;
}

function outcomesPage() {
  return `# Outcomes

Made by \`scripts/docs.mjs\` from the table that decides what follows; do not edit it by hand.

Every job ends in one outcome. It is decided from all that was seen of the run, never from an exit
code alone. \`herdctl jobs --outcome CODE\` lists the jobs that ended in one.

What is tried again goes on in the same session, up to \`retry.max_attempts\` times, after
\`retry.backoff\` and twice as long each time. A limit that is waited for costs no attempt. A job whose
process died three times is set aside as \`runtime_crashed\`. A run that was interrupted, cancelled or
cut off can be gone on with by hand: \`herdctl trigger AGENT --resume JOB\`.

${outcomeTables(outcomes, outcomeCodes)}
`;
}

function errorsPage() {
  return `# Errors

Made by \`scripts/docs.mjs\` from the table that commands and the control API share; do not edit it by
hand. These are what a person can do something about. How a *job* ended is its
[outcome](outcomes.md).

A terminal shows the message and what to do; \`--json\` and the control API give
\`{ "errors": [{ "code", "message", "hint" }] }\`, with file, line and column where a file is to blame.
The hint that comes with an error may be more exact than the one below.

## Exit codes

${exitTable(exitCodes)}

## Every error

${errorRows(errorTable)}
`;
}
