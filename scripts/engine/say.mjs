/** What takes long is announced, where people read. */
export function say(text) {
  process.stderr.write(`herdctl: ${text}\n`);
}
