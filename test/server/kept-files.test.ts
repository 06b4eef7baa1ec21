import { expect, test } from "vitest";
import { Memory, memoryDir } from "../../packages/core/src/state/memory.ts";
import { bearer, portStage } from "./port-stage.ts";
import { ask, connect, serve } from "./stage.ts";

async function contentOf(pieces: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces ?? []) all.push(piece);
  return Buffer.concat(all);
}

test("the files of a job are listed and given byte by byte, over HTTP and by the client", async () => {
  const { fleet, socket } = await serve();
  const { job } = await fleet.trigger({ trigger: "manual", agent: "coder" });
  const bytes = Uint8Array.from({ length: 200_000 }, (_, at) => at % 251);
  await fleet.keep(job, "chart.png", bytes);
  await fleet.keep(job, "a report.html", "<script>alert(1)</script>");
  const client = await connect(socket);
  expect((await client.artifacts(job.id)).map(({ name }) => name)).toEqual([
    "a report.html",
    "chart.png",
  ]);
  expect(await contentOf(await client.artifact(job.id, "chart.png"))).toEqual(Buffer.from(bytes));
  expect(await client.artifact(job.id, "none")).toBeUndefined();
  await expect(client.artifacts("job-none")).rejects.toMatchObject({ code: "job_not_found" });

  const picture = await ask(socket, "GET", `/v1/jobs/${job.id}/artifacts/chart.png`);
  expect([picture.status, picture.type]).toEqual([200, "image/png"]);
});

test("a file of an agent's is saved by a browser, never shown as a page", async () => {
  const on = await portStage();
  const { job } = await on.fleet.trigger({ trigger: "manual", agent: "coder" });
  const { mkdirSync, writeFileSync } = await import("node:fs");
  const folder = `${on.folder}/.herdctl/jobs/${job.id}/artifacts`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/page.html`, "<script>alert(1)</script>");
  writeFileSync(`${folder}/picture.svg`, "<svg onload='alert(1)'/>");
  const headers = bearer(on.readOnly);
  for (const name of ["page.html", "picture.svg"]) {
    const { status, headers: told } = await on.send("GET", `/v1/jobs/${job.id}/artifacts/${name}`, {
      headers,
    });
    expect([status, told["content-type"]]).toEqual([200, "application/octet-stream"]);
    expect(told["content-disposition"]).toMatch(/^attachment; /);
    expect(told["x-content-type-options"]).toBe("nosniff");
  }
  for (const name of ["..%2foutput.jsonl", "%2e%2e%2f%2e%2e%2ftoken", ".draft", "a%00b"]) {
    const { status } = await on.send("GET", `/v1/jobs/${job.id}/artifacts/${name}`, { headers });
    expect([name, status]).toEqual([name, 404]);
  }
});

test("notes of an agent are read, and a name that is none finds nothing", async () => {
  const { fleet, socket } = await serve();
  await new Memory(memoryDir(fleet.stateDir, "coder")).write("style", "Two spaces.");
  const client = await connect(socket);
  expect((await client.notes("coder")).map(({ name }) => name)).toEqual(["style"]);
  expect(await client.note("coder", "style")).toBe("Two spaces.");
  expect(await client.note("coder", "../../token")).toBeUndefined();
  const on = await portStage();
  const headers = bearer(on.token);
  const { status } = await on.send("GET", "/v1/agents/%2e%2e/notes/token", { headers });
  expect(status).toBe(404);
});
