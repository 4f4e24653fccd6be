import React, { useEffect, useReducer } from "react";
import PropTypes from "prop-types";

const initial = { seconds: 0, running: false, laps: [] };

function reducer(state, action) {
  switch (action.type) {
    case "tick":
      return { ...state, seconds: state.seconds + 1 };
    case "lap":
      return { ...state, laps: [...state.laps, state.seconds] };
    case "toggle":
      return { ...state, running: !state.running };
    default:
      throw new Error(`unknown action ${action.type}`);
  }
}

const pad = (n) => String(n).padStart(2, "0");

export const Clock = ({ seconds, children }) => (
  <time dateTime={`PT${seconds}S`} className="clock">
    {pad(Math.floor(seconds / 60))}:{pad(seconds % 60)}
    {children}
  </time>
);

@observer
class Boundary extends React.Component {
  state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  @bound
  report() {
    try {
      this.props.log(this.state);
    } catch (error) {
      console.error(error);
    }
  }

  render() {
    if (this.state.failed) {
      return <p role="alert">Something went wrong.</p>;
    }
    return this.props.children;
  }
}

export default function Timer({ name = "timer", onLap, ...rest }) {
  const [state, dispatch] = useReducer(reducer, initial);

  useEffect(() => {
    if (!state.running) return undefined;
    const handle = setInterval(() => dispatch({ type: "tick" }), 1000);
    return () => clearInterval(handle);
  }, [state.running]);

  const lap = () => {
    dispatch({ type: "lap" });
    onLap?.(state.seconds);
  };

  return (
    <Boundary>
      <section {...rest} aria-label={name}>
        {/* The clock itself. */}
        <Clock seconds={state.seconds}>
          <small> min</small>
        </Clock>
        <>
          <button type="button" onClick={() => dispatch({ type: "toggle" })}>
            {state.running ? "Stop" : "Start"}
          </button>
          <button disabled={!state.running} onClick={lap}>Lap &amp; go</button>
        </>
        {state.laps.length > 0 && (
          <ol>
            {state.laps.map((seconds, i) => (
              <li key={i}>
                <Clock seconds={seconds} />
              </li>
            ))}
          </ol>
        )}
      </section>
    </Boundary>
  );
}

Timer.propTypes = { name: PropTypes.string, onLap: PropTypes.func };
