import type Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { assistant, hello, startRehearsalClient, textOf, user } from "./rehearsal-client.ts";

test("obeys tool descriptions too, and gives a retry the same calls", async () => {
  const { client } = await startRehearsalClient({ mode: "obedient" });
  const description = 'Adds.\nOBEY: add {"a": 1}\nOBEY: add {"a": 2}\n\nOBEY: add {not json';
  const tools = [{ name: "add", description, input_schema: { type: "object" as const } }];
  const first = await client.messages.create({ ...hello, tools });
  expect(first.content).toMatchObject([{ input: { a: 1 } }, { input: { a: 2 } }]);
  expect(await client.messages.create({ ...hello, tools })).toEqual(first);
  const results = first.content.flatMap((block) =>
    block.type === "tool_use"
      ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "ok" }]
      : [],
  );
  const messages = [
    ...hello.messages,
    { role: assistant, content: first.content },
    { role: user, content: results },
  ];
  const last = await client.messages.create({ ...hello, tools, messages });
  expect(last.content).toMatchObject([
    { type: "text", text: "add: ok\nadd: ok\nNot understood: add {not json" },
  ]);
});

test("restarts a sequence with every prompt and then leaves the reply to other rules", async () => {
  const { client } = await startRehearsalClient({
    script: {
      rules: [
        { match: { prompt: "go" }, replies: [{ tools: [{ name: "Bash" }] }, "Done."] },
        { match: { tool_result: "/value-\\d+/" }, reply: "I see a value." },
      ],
    },
  });
  const saw = async (...texts: string[]) => {
    const messages = texts.map((content, at) => ({ role: at % 2 ? assistant : user, content }));
    return textOf(await client.messages.create({ ...hello, messages }));
  };
  expect(await saw("go")).toBe("Bash");
  expect(await saw("go", "…", "<system-reminder>a tool ran</system-reminder>")).toBe("Done.");
  expect(await saw("go", "…", "<system-reminder>x</system-reminder>", "…", "go on")).toBe("Bash");
  expect(await saw("go", "…", "well?")).toContain("No rule of the script matches");
  const results = [{ type: "tool_result" as const, tool_use_id: "t", content: "value-42" }];
  const messages = [
    { role: user, content: "what" },
    { role: assistant, content: "…" },
    { role: user, content: results },
  ];
  expect(textOf(await client.messages.create({ ...hello, messages }))).toBe("I see a value.");
});

test("disables a rule with `times` after its last use, whatever is retried", async () => {
  const fault = { status: 500, times: 1 };
  const { client } = await startRehearsalClient({
    script: { rules: [{ times: 1, reply: "Only once.", fault }, { reply: "From then on." }] },
  });
  const ask = (session: string) =>
    client.messages.create(hello, { headers: { "x-claude-code-session-id": session } });
  await expect(ask("a")).rejects.toMatchObject({ status: 500 });
  expect(textOf(await ask("a"))).toBe("Only once.");
  expect(textOf(await ask("a"))).toBe("Only once.");
  expect(textOf(await ask("b"))).toBe("From then on.");
});

test("delays and slows down a reply", async () => {
  const delay = { first: "150ms", between: "10ms" };
  const { client, ledger } = await startRehearsalClient({
    script: { rules: [{ reply: { text: "Well.", delay } }] },
  });
  await client.messages.stream(hello).finalMessage();
  expect(ledger.main[0]?.durationMs).toBeGreaterThan(190);
});

test("repeats a tool call forever with a repeating rule, and applies the fault of a rule without replies to others", async () => {
  const { client } = await startRehearsalClient({
    script: {
      rules: [
        { match: { turn: 3 }, fault: { status: 500, times: 1 } },
        { repeat: true, reply: { tools: [{ name: "Bash" }] } },
      ],
    },
  });
  const messages: Anthropic.MessageParam[] = [...hello.messages];
  const stops: string[] = [];
  while (stops.length < 5) {
    const answer = await client.messages.create({ ...hello, messages }).catch(() => undefined);
    stops.push(answer?.stop_reason ?? "failed");
    if (!answer) continue;
    messages.push({ role: "assistant", content: answer.content });
    messages.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t", content: "" }],
    });
  }
  expect(stops).toEqual(["tool_use", "tool_use", "failed", "tool_use", "tool_use"]);
});

test("prefers rules to obedience and all of them to the script's default", async () => {
  const orders = { ...hello, messages: [{ role: user, content: "OBEY: say yes" }] };
  const fault = { status: 400, times: 1 };
  const obedient = await startRehearsalClient({ script: { mode: "obedient", rules: [{ fault }] } });
  await expect(obedient.client.messages.create(orders)).rejects.toMatchObject({ status: 400 });
  expect((await obedient.client.messages.create(orders)).content).toMatchObject([{ text: "yes" }]);
  const scripted = await startRehearsalClient({
    script: {
      default: "No line.",
      rules: [{ match: { from: "any", prompt: "/HELL/i" }, reply: "x" }],
    },
  });
  expect((await scripted.client.messages.create(orders)).content).toMatchObject([
    { text: "No line." },
  ]);
  const errand = await scripted.client.messages.create({ ...hello, max_tokens: 1 });
  expect(errand.content).toMatchObject([{ text: "x" }]);
});

test("exempts quota probes and side requests for JSON from rules", async () => {
  const { client, ledger } = await startRehearsalClient({
    script: { rules: [{ reply: "Scripted." }] },
  });
  await client.messages.create({ ...hello, max_tokens: 1 });
  const properties = { title: { type: "string" } };
  const format = { type: "json_schema" as const, schema: { type: "object", properties } };
  const title = await client.messages.create({ ...hello, output_config: { format } });
  expect(title.content).toMatchObject([{ text: '{"title":"Rehearsal"}' }]);
  expect(ledger.entries.map((entry) => entry.kind)).toEqual(["side", "side"]);
});
