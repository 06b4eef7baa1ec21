import { expect, test } from "vitest";
import type { NewChatMessage } from "../../packages/protocol/src/records/chat.ts";
import { openStores } from "./test-stores.ts";

async function chatStore() {
  const stores = await openStores();
  stores.time.now = Date.now();
  return stores;
}

const chatMessage = (change: Partial<NewChatMessage> = {}): NewChatMessage => ({
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

test("accepts a message once for each agent, into the conversation of its room", async () => {
  const { chat } = await chatStore();
  const first = await chat.recordMessage(chatMessage());
  const again = await chat.recordMessage(chatMessage({ text: "changed" }));
  const other = await chat.recordMessage(chatMessage({ agent: "two", conversation_key: "k2" }));
  const next = await chat.recordMessage(chatMessage({ message_id: "2" }));
  expect([first.created, again.created, other.created, next.created]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect(again.message).toEqual(first.message);
  expect(next.message.conversation_id).toBe(first.message.conversation_id);
  expect(other.message.conversation_id).not.toBe(first.message.conversation_id);
  expect((await chat.listOpenMessages()).map(({ id }) => id)).toEqual([
    first.message.id,
    other.message.id,
    next.message.id,
  ]);
  await chat.updateMessage(first.message.id, { status: "answered" });
  expect(await chat.listOpenMessages()).toHaveLength(2);
});

test("only advances the read position, starting with the first connection", async () => {
  const { chat, time } = await chatStore();
  const before = time.now;
  const since = await chat.getReceivedUntil("one", "discord");
  expect(since.getTime()).toBeGreaterThanOrEqual(before);
  const later = new Date(Date.now() + 60_000).toISOString();
  await chat.recordMessage(chatMessage({ sent_at: later }));
  await chat.recordMessage(chatMessage({ message_id: "0", sent_at: "2020-01-01T00:00:00.000Z" }));
  expect((await chat.getReceivedUntil("one", "discord")).toISOString()).toBe(later);
});

test("records a post before and after it is sent, under one nonce", async () => {
  const { chat } = await chatStore();
  const { message } = await chat.recordMessage(chatMessage());
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

test("removes old answered messages with their posts and keeps open ones", async () => {
  const { chat } = await chatStore();
  const old = { sent_at: "2020-01-01T00:00:00.000Z" };
  const { message: done } = await chat.recordMessage(chatMessage(old));
  const { message: open } = await chat.recordMessage(
    chatMessage({ ...old, message_id: "2", conversation_key: "k2" }),
  );
  await chat.beginPost(done.id, "part 0");
  await chat.updateMessage(done.id, { status: "answered" });
  const last_used_at = "2020-01-01T00:00:00.000Z";
  for (const one of [done, open])
    await chat.updateConversation(one.conversation_id, { last_used_at });
  expect(await chat.prune(new Date("2021-01-01"), 100)).toBe(1);
  expect(await chat.listPosts(done.id)).toEqual([]);
  expect((await chat.listOpenMessages()).map(({ id }) => id)).toEqual([open.id]);
  expect((await chat.listConversations()).map(({ id }) => id)).toEqual([open.conversation_id]);
});

test("keeps the session of a conversation out of the agent's other jobs", async () => {
  const { sessions } = await chatStore();
  const at = { agent: "one", session_home: "cli" as const, cwd: "/w" };
  await sessions.save({ ...at, session_id: "of the agent" });
  await sessions.save({ ...at, session_id: "of a chat", in_chat: true });
  expect((await sessions.findLatest("one", "cli"))?.session_id).toBe("of the agent");
});
