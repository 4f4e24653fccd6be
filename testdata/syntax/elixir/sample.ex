defmodule Orchard.Harvest do
  @moduledoc """
  Counts what is picked, row by row.
  """

  use GenServer, restart: :transient
  import Enum, only: [map: 2, sum: 1]
  alias Orchard.{Row, Tree}
  require Logger

  @default_limit 40
  @type count :: non_neg_integer()
  @typep state :: %{rows: [Row.t()], picked: count}

  defstruct rows: [], picked: 0, season: nil

  @doc "Starts the counter."
  @spec start_link(keyword()) :: GenServer.on_start()
  def start_link(opts \\ []) do
    name = Keyword.get(opts, :name, __MODULE__)
    GenServer.start_link(__MODULE__, opts, name: name)
  end

  @impl true
  def init(opts) do
    rows = opts[:rows] || []
    {:ok, %__MODULE__{rows: rows, season: opts[:season]}}
  end

  @impl true
  def handle_call({:pick, row, n}, _from, state) when is_integer(n) and n > 0 do
    case find(state.rows, row) do
      {:ok, %Row{limit: limit}} when n > limit ->
        {:reply, {:error, :too_many}, state}

      {:ok, _row} ->
        state = %{state | picked: state.picked + n}
        {:reply, :ok, state}

      :error ->
        {:reply, {:error, "no row #{row}"}, state}
    end
  end

  def handle_call(:total, _from, state), do: {:reply, state.picked, state}

  def handle_info(message, state) do
    Logger.warning("unexpected: #{inspect(message, pretty: true)}")
    {:noreply, state}
  end

  defp find(rows, id) do
    Enum.find_value(rows, :error, fn
      %Row{id: ^id} = row -> {:ok, row}
      _ -> nil
    end)
  end

  def average([]), do: 0.0

  def average(counts) do
    counts
    |> map(&(&1 * 1.0))
    |> sum()
    |> Kernel./(length(counts))
  end

  def label(count) do
    cond do
      count == 0 -> "none"
      count in 1..9 -> 'few'
      true -> ~s(many: #{count})
    end
  end

  def plan(path) do
    with {:ok, text} <- File.read(path),
         [head | rest] <- String.split(text, "\n", trim: true) do
      trees = for line <- rest, line != "", into: %{}, do: {line, Tree.new(line)}
      {head, trees}
    else
      {:error, reason} -> {:error, reason}
      _ -> nil
    end
  end

  def safely(fun) do
    try do
      fun.()
    rescue
      e in [ArgumentError, KeyError] -> {:error, Exception.message(e)}
    catch
      :exit, reason -> {:exit, reason}
    after
      :ok
    end
  end

  def report(state) do
    if state.picked > @default_limit and not is_nil(state.season) do
      IO.puts("a good year")
    else
      unless state.picked == 0, do: IO.puts "a year"
    end

    <<first::utf8, _rest::binary>> = to_string(state.season)
    regex = ~r/^\d+$/i
    {first, regex, ?a, :"odd name", 0xFF, 1_000}
  end
end
