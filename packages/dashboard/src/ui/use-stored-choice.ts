import { useState } from "react";

/** A preference of this browser: it is neither part of the URL nor of the fleet. */
export function useStoredChoice<T extends string>(
  name: string,
  choices: readonly [T, ...T[]],
): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(
    () => choices.find((choice) => choice === localStorage.getItem(name)) ?? choices[0],
  );
  const set = (next: T) => {
    localStorage.setItem(name, next);
    setValue(next);
  };
  return [value, set];
}
