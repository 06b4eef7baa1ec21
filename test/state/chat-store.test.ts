import { expect, test } from "vitest";
import type { NewChatMessage } from "../../packages/core/src/state/chat.ts";
import { newStores } from "./support.ts";

async function chatStore() {
  const stores = await newStores();
  stores.time.now = Date.now();
  return stores;
}

const said = (change: Partial<NewChatMessage> = {}): NewChatMessage => ({
  agent: "one",
  platform: "discord",
  room: { workspace: "w", channel: "c", thread: null, direct: false },
  conversation_key: "k",
  message_id: "1",
  sender: { id: "u", name: "U" },
  text: "hello",
  attachments: [],
  wants_context: false,
  continues: null,
  answers: null,
  sent_at: new Date().toISOString(),
  ...change,
});

test("a message is taken once for each agent, into the conversation of its room", async () => {
  const { chat } = await chatStore();
  const first = await chat.take(said());
  const again = await chat.take(said({ text: "changed" }));
  const other = await chat.take(said({ agent: "two", conversation_key: "k2" }));
  const next = await chat.take(said({ message_id: "2" }));
  expect([first.created, again.created, other.created, next.created]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect(again.message).toEqual(first.message);
  expect(next.message.conversation_id).toBe(first.message.conversation_id);
  expect(other.message.conversation_id).not.toBe(first.message.conversation_id);
  expect((await chat.open()).map(({ id }) => id)).toEqual([
    first.message.id,
    other.message.id,
    next.message.id,
  ]);
  await chat.changeMessage(first.message.id, { status: "answered" });
  expect(await chat.open()).toHaveLength(2);
});

test("how far was heard only grows, and begins with the first time somebody listens", async () => {
  const { chat, time } = await chatStore();
  const before = time.now;
  const since = await chat.heardUntil("one", "discord");
  expect(since.getTime()).toBeGreaterThanOrEqual(before);
  const later = new Date(Date.now() + 60_000).toISOString();
  await chat.take(said({ sent_at: later }));
  await chat.take(said({ message_id: "0", sent_at: "2020-01-01T00:00:00.000Z" }));
  expect((await chat.heardUntil("one", "discord")).toISOString()).toBe(later);
});

test("a post is on record before and after it is made, under one nonce", async () => {
  const { chat } = await chatStore();
  const { message } = await chat.take(said());
  const first = await chat.beginPost(message.id, "part 0");
  const second = await chat.beginPost(message.id, "part 0");
  const other = await chat.beginPost(message.id, "part 1");
  expect([first.first, second.first, other.first]).toEqual([true, false, true]);
  expect(second.post.nonce).toBe(first.post.nonce);
  expect(other.post.nonce).not.toBe(first.post.nonce);
  expect(first.post.nonce.length).toBeLessThanOrEqual(25);
  await chat.endPost(first.post.nonce, "p1");
  expect((await chat.beginPost(message.id, "part 0")).post.posted_id).toBe("p1");
});

test("what was answered long ago goes, with its posts; what is open stays", async () => {
  const { chat } = await chatStore();
  const old = { sent_at: "2020-01-01T00:00:00.000Z" };
  const { message: done } = await chat.take(said(old));
  const { message: open } = await chat.take(
    said({ ...old, message_id: "2", conversation_key: "k2" }),
  );
  await chat.beginPost(done.id, "part 0");
  await chat.changeMessage(done.id, { status: "answered" });
  const last_used_at = "2020-01-01T00:00:00.000Z";
  for (const one of [done, open])
    await chat.changeConversation(one.conversation_id, { last_used_at });
  expect(await chat.prune(new Date("2021-01-01"), 100)).toBe(1);
  expect(await chat.posts(done.id)).toEqual([]);
  expect((await chat.open()).map(({ id }) => id)).toEqual([open.id]);
  expect((await chat.conversations()).map(({ id }) => id)).toEqual([open.conversation_id]);
});

test("the session of a conversation is not what the agent's next job goes on with", async () => {
  const { sessions } = await chatStore();
  const at = { agent: "one", place: "cli" as const, cwd: "/w" };
  await sessions.save({ ...at, session_id: "of the agent" });
  await sessions.save({ ...at, session_id: "of a chat", in_chat: true });
  expect((await sessions.latest("one", "cli"))?.session_id).toBe("of the agent");
});
