/** Every row of a terminal, including the scrollback, as runs of text with the same style. */
export function rowsOf(terminal) {
  const buffer = terminal.buffer.active;
  return Array.from({ length: buffer.length }, (_, row) =>
    runsOf(buffer.getLine(row), terminal.cols),
  );
}

function runsOf(line, columns) {
  const runs = [];
  for (let column = 0; column < columns; column++) {
    const cell = line.getCell(column);
    // The second cell of a wide character is empty.
    if (cell.getWidth() === 0) continue;
    const look = styleOf(cell);
    const last = runs.at(-1);
    const text = cell.getChars() || " ";
    if (last?.look === look)
      Object.assign(last, { text: last.text + text, to: column + cell.getWidth() });
    else runs.push({ text, look, from: column, to: column + cell.getWidth() });
  }
  return runs.map(trimmed).filter((run) => run.text !== "");
}

function styleOf(cell) {
  const colour = cell.isFgPalette() ? `c${cell.getFgColor()}` : "";
  return [colour, cell.isBold() ? "b" : "", cell.isDim() ? "d" : ""].filter(Boolean).join(" ");
}

function trimmed(run) {
  const text = run.text.trimEnd();
  return { ...run, text, to: run.to - (run.text.length - text.length) };
}
