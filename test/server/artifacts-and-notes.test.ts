import { expect, test } from "vitest";
import { AgentMemory, memoryDir } from "../../packages/core/src/store/files/agent-memory.ts";
import { bearer, startHttpHarness } from "./http-harness.ts";
import { connect, sendRequest, startSocketHarness } from "./socket-harness.ts";

async function contentOf(pieces: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces ?? []) all.push(piece);
  return Buffer.concat(all);
}

test("lists and serves the files of a job byte by byte, over HTTP and by the client", async () => {
  const { fleet, socket } = await startSocketHarness();
  const { job } = await fleet.jobs.trigger({ agent: "coder" });
  const bytes = Uint8Array.from({ length: 200_000 }, (_, at) => at % 251);
  await fleet.keepArtifact(job, "chart.png", bytes);
  await fleet.keepArtifact(job, "a report.html", "<script>alert(1)</script>");
  const client = await connect(socket);
  expect((await client.artifacts.list(job.id)).map(({ name }) => name)).toEqual([
    "a report.html",
    "chart.png",
  ]);
  expect(await contentOf(await client.artifacts.read(job.id, "chart.png"))).toEqual(
    Buffer.from(bytes),
  );
  expect(await client.artifacts.read(job.id, "none")).toBeUndefined();
  await expect(client.artifacts.list("job-none")).rejects.toMatchObject({ code: "job_not_found" });

  const picture = await sendRequest(socket, "GET", `/v1/jobs/${job.id}/artifacts/chart.png`);
  expect([picture.status, picture.type]).toEqual([200, "image/png"]);
});

test("serves an agent's file as a download, never as a page", async () => {
  const harness = await startHttpHarness();
  const { job } = await harness.fleet.jobs.trigger({ agent: "coder" });
  const { mkdirSync, writeFileSync } = await import("node:fs");
  const folder = `${harness.folder}/.herdctl/jobs/${job.id}/artifacts`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/page.html`, "<script>alert(1)</script>");
  writeFileSync(`${folder}/picture.svg`, "<svg onload='alert(1)'/>");
  const headers = bearer(harness.readOnly);
  for (const name of ["page.html", "picture.svg"]) {
    const { status, headers: responseHeaders } = await harness.send(
      "GET",
      `/v1/jobs/${job.id}/artifacts/${name}`,
      {
        headers,
      },
    );
    expect([status, responseHeaders["content-type"]]).toEqual([200, "application/octet-stream"]);
    expect(responseHeaders["content-disposition"]).toMatch(/^attachment; /);
    expect(responseHeaders["x-content-type-options"]).toBe("nosniff");
  }
  for (const name of ["..%2foutput.jsonl", "%2e%2e%2f%2e%2e%2ftoken", ".draft", "a%00b"]) {
    const { status } = await harness.send("GET", `/v1/jobs/${job.id}/artifacts/${name}`, {
      headers,
    });
    expect([name, status]).toEqual([name, 404]);
  }
});

test("serves an agent's notes and finds nothing for an invalid name", async () => {
  const { fleet, socket } = await startSocketHarness();
  await new AgentMemory(memoryDir(fleet.stateDir, "coder")).write("style", "Two spaces.");
  const client = await connect(socket);
  expect((await client.notes.list("coder")).map(({ name }) => name)).toEqual(["style"]);
  expect(await client.notes.read("coder", "style")).toBe("Two spaces.");
  expect(await client.notes.read("coder", "../../token")).toBeUndefined();
  const harness = await startHttpHarness();
  const headers = bearer(harness.token);
  const { status } = await harness.send("GET", "/v1/agents/%2e%2e/notes/token", { headers });
  expect(status).toBe(404);
});
