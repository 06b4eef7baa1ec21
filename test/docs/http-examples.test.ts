import { expect, test } from "vitest";
import { z } from "zod";
import { tempFolderWith } from "../support/temp-folder.ts";
import { type DocumentedFleet, startDocumentedFleet } from "./documented-fleet.ts";
import {
  httpExamplesByPage,
  isHttpRequest,
  isOnSocket,
  type ShellLine,
  toPortRequest,
} from "./http-examples.ts";
import type { TypedShell } from "./typed-shell.ts";

const byPage = httpExamplesByPage();
/** Typed by an agent, because its variables exist only in a run. */
const pageOfRuns = "docs/guides/egress-and-gateway.md";
const commandInRun = byPage.get(pageOfRuns)?.find(isHttpRequest)?.command ?? "";

interface Answer {
  status: string;
  body: string;
}

type Variables = Record<string, string>;

/** What a reader has before a request that names it. Other requests are about a finished job. */
const preparations: [names: RegExp, prepare: (fleet: DocumentedFleet) => Promise<Variables>][] = [
  [/\$JOB\/cancel|coder\/cancel/, async (fleet) => ({ JOB: (await fleet.trigger("long")).id })],
  [/\$JOB\/resume/, async (fleet) => ({ JOB: (await fleet.finish("report")).id })],
  [/\$ID/, async (fleet) => ({ ID: (await fleet.openRequest("pushes")).id })],
  [/\$QUESTION/, async (fleet) => ({ QUESTION: (await fleet.openRequest("asks")).id })],
];

/** Longer than any request here takes, even on a loaded machine. */
const requestSeconds = 60;
/** A stream of events has no end of its own. */
const streamSeconds = 3;

test("answers every HTTP example as written, over the socket and over the port", async () => {
  const fleet = await startDocumentedFleet(commandInRun);
  const finished = fleet.finish("report");
  const answers: [page: string, command: string, answer: Answer][] = [];
  const runPage = async (page: string, lines: ShellLine[]) => {
    const shell = fleet.openShell({ HERDCTL_PORT: String(fleet.port) });
    await shell.type(`TOKEN=$(herdctl token show)`);
    for (const line of lines) {
      if (isHttpRequest(line)) {
        await setVariables(shell, fleet, (await finished).id, line.command);
        answers.push([page, line.command, await request(shell, fleet, line.command)]);
      } else {
        expect(
          await shell.type(`{ ${line.command}; } 2>/dev/null || echo failed`),
          line.command,
        ).toBe("");
      }
    }
    await shell.close();
  };
  for (const [page, lines] of byPage) {
    if (page === pageOfRuns) continue;
    await runPage(page, lines);
    const overPort = lines.filter(isOnSocket);
    await runPage(
      page,
      overPort.map((line) => ({ ...line, command: toPortRequest(line.command) })),
    );
  }

  expect(answers.filter(([, , { status }]) => !/^2\d\d$/.test(status))).toEqual([]);
  const requests = [...byPage.values()].flat().filter(isHttpRequest);
  // The gateway's example is typed by an agent; the requests to the socket ran twice.
  const onSocket = requests.filter(isOnSocket);
  expect(answers).toHaveLength(requests.length - 1 + onSocket.length);
  expect(onSocket.length).toBeGreaterThan(10);

  // A second trigger with the same key returns the first job.
  const keyed = answers.filter(([, command]) => command.includes('"key"'));
  const ids = keyed.map(([, , { body }]) => jobAnswer.parse(JSON.parse(body)).job.id);
  expect(ids).toEqual([ids[0], ids[0]]);
  const bodyOf = (part: string) =>
    answers.filter(([, command]) => command.includes(part)).map(([, , { body }]) => body);
  for (const body of bodyOf("/v1/events")) expect(body).toMatch(/^event: \w/m);
  for (const body of bodyOf("/artifacts/")) expect(body).toBe("%PDF-1.7 report");
  for (const body of bodyOf("/notes/style")) expect(body).toContain("Two spaces.");
  expect(bodyOf("_rehearsal/ledger").join()).toContain("Fix the oldest issue.");
  expect(bodyOf("/hooks/reviewer/pull-requests").join()).toContain("job-");
  expect(await answerInRun(fleet)).toContain("the key does not belong to this run");
}, 300_000);

const jobAnswer = z.object({ job: z.object({ id: z.string() }) });

/** What an agent reads that types the gateway's example. */
async function answerInRun({ client, finish }: DocumentedFleet): Promise<string> {
  const { id } = await finish("calls", "caller");
  const answers: string[] = [];
  for await (const { message } of client.jobs.output(id))
    if (message.type === "user") answers.push(JSON.stringify(message));
  return answers.join("\n");
}

async function setVariables(
  shell: TypedShell,
  fleet: DocumentedFleet,
  finishedJob: string,
  command: string,
) {
  const [, prepare] = preparations.find(([names]) => names.test(command)) ?? [];
  const variables = prepare ? await prepare(fleet) : { JOB: finishedJob };
  for (const [name, value] of Object.entries(variables)) await shell.type(`${name}=${value}`);
}

/** Sends the request of the page. curl reads from its own file how it reports and when it gives up. */
async function request(shell: TypedShell, fleet: DocumentedFleet, shown: string): Promise<Answer> {
  const isEndless = shown.includes("/v1/events");
  const curlHome = tempFolderWith({
    ".curlrc": [
      "silent",
      "show-error",
      'write-out = "\\n%{http_code}"',
      `max-time = ${isEndless ? streamSeconds : requestSeconds}`,
    ].join("\n"),
  });
  const command = await withActualValues(shown, shell, fleet);
  const trigger = isEndless ? fleet.trigger("report") : undefined;
  const answer = await shell.type(`export CURL_HOME=${curlHome}; set -u; ${command}`);
  await trigger;
  const lines = answer.trimEnd().split("\n");
  const status = lines.pop() ?? "";
  const savedFile = /-O \S+\/(\S+)/.exec(shown)?.[1];
  const body = savedFile ? await shell.type(`cat ${savedFile}; rm ${savedFile}`) : lines.join("\n");
  return { status, body };
}

async function withActualValues(
  command: string,
  shell: TypedShell,
  fleet: DocumentedFleet,
): Promise<string> {
  const actual = command
    .replaceAll("127.0.0.1:3232", `127.0.0.1:${fleet.port}`)
    .replaceAll("http://127.0.0.1:4141", fleet.rehearsalUrl);
  if (!actual.includes("<uuid of a message>")) return actual;
  const job = (await shell.type("echo $JOB")).trim();
  for await (const { message } of fleet.client.jobs.output(job))
    if (message.type === "assistant" && typeof message.uuid === "string")
      return actual.replace("<uuid of a message>", message.uuid);
  return expect.fail(`no message of ${job} can be the end of a fork`);
}
