/** Announces a long step on standard error. */
export function printProgress(text) {
  process.stderr.write(`herdctl: ${text}\n`);
}
