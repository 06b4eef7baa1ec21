import { timeFormats } from "../../ui/time-formats.ts";
import { toneFill } from "../../ui/tone-fill.ts";
import { type CalendarDay, formatDay } from "./calendar-days.ts";

interface CalendarProps {
  days: CalendarDay[];
  chosen: string | undefined;
  onChoose(day: string | undefined): void;
}

const weekdays = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];
/** Each day is a button that shows the due times of that day. */
export function Calendar({ days, chosen, onChoose }: CalendarProps) {
  const today = formatDay(new Date());
  return (
    <div className="grid max-w-md grid-cols-7 gap-1">
      {weekdays.map((name) => (
        <span key={name} aria-hidden className="text-center text-xs text-muted">
          {name}
        </span>
      ))}
      {days.map((day, index) => (
        <button
          key={day.day}
          type="button"
          aria-pressed={day.day === chosen}
          aria-current={day.day === today ? "date" : undefined}
          aria-label={`${timeFormats.monthDay.format(new Date(`${day.day}T12:00`))}: ${day.summary}`}
          title={day.summary}
          disabled={day.records.length === 0}
          onClick={() => onChoose(day.day === chosen ? undefined : day.day)}
          className="flex h-9 flex-col items-center justify-between rounded-sm border border-line p-1 text-xs text-muted enabled:hover:bg-hover aria-[current=date]:border-line-strong aria-[current=date]:font-semibold aria-[current=date]:text-text aria-pressed:border-accent"
        >
          <span className="whitespace-nowrap">
            {(index === 0 || day.day.endsWith("-01")) && (
              <span className="font-semibold">
                {timeFormats.month.format(new Date(`${day.day}T12:00`))}{" "}
              </span>
            )}
            {Number(day.day.slice(-2))}
          </span>
          <span className="flex h-1.5 w-full overflow-hidden rounded-[1px] bg-sunken">
            {day.shares.map(({ tone, share }) => (
              <i key={tone} className={`min-w-1 ${toneFill[tone]}`} style={{ flexGrow: share }} />
            ))}
          </span>
        </button>
      ))}
    </div>
  );
}
