import React, { useCallback, useEffect, useState, type FC } from "react";

import { Ctx } from "./context";
import type { Task } from "./types";

type Filter = "all" | "open" | "done";

interface Props {
  tasks: Task[];
  title?: string;
  onToggle(id: number): void;
}

const FILTERS: readonly Filter[] = ["all", "open", "done"];

function matches(task: Task, filter: Filter): boolean {
  switch (filter) {
    case "open":
      return !task.done;
    case "done":
      return task.done;
    default:
      return true;
  }
}

const Row: FC<{ task: Task; onToggle: Props["onToggle"] }> = ({ task, onToggle }) => (
  <li className={task.done ? "done" : undefined} key={task.id}>
    <input type="checkbox" checked={task.done} onChange={() => onToggle(task.id)} />
    <span title={`due ${task.due}`}>{task.title}</span>
  </li>
);

export function useLocal<T,>(key: string, initial: T): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const text = localStorage.getItem(key);
    return text === null ? initial : (JSON.parse(text) as T);
  });
  useEffect(() => {
    localStorage.setItem(key, JSON.stringify(value));
  }, [key, value]);
  return [value, setValue];
}

@registered("task-badge")
class Badge extends React.Component<{ count: number }> {
  @memoized label(): string {
    try {
      return this.props.count.toFixed();
    } catch {
      return "?";
    }
  }
}

export default function TaskList({ tasks, title = "Tasks", ...rest }: Props) {
  const [filter, setFilter] = useLocal<Filter>("filter", "all");
  const shown = tasks.filter((t) => matches(t, filter));
  const clear = useCallback(async () => {
    for (const task of tasks) {
      if (task.done) await task.remove?.();
    }
  }, [tasks]);

  if (tasks.length === 0) return <p>Nothing to do &mdash; enjoy</p>;

  return (
    <Ctx.Provider value={{ filter, setFilter }}>
      {/* The head shows the count. */}
      <h1 style={{ fontSize: 20, margin: 0 }}>
        {title} ({shown.length})
      </h1>
      <>
        {FILTERS.map((f) => (
          <button key={f} disabled={f === filter} onClick={() => setFilter(f)}>
            {f}
          </button>
        ))}
      </>
      <ul {...rest}>
        {shown.map((t) => (
          <Row key={t.id} task={t} onToggle={rest.onToggle} />
        ))}
      </ul>
      {shown.some((t) => t.done) && <button onClick={clear}>Clear</button>}
      <hr />
    </Ctx.Provider>
  );
}
