/** For each fleet the place in its list from which half of its jobs are older. */
export async function middles(fleets) {
  const found = new Map();
  for (const { size, control } of fleets) {
    const step = Math.min(1_000, size / 2);
    let cursor;
    for (let seen = 0; seen < size / 2; seen += step) {
      cursor = (await control.jobs({ limit: step, cursor })).next;
    }
    found.set(size, cursor);
  }
  return found;
}
