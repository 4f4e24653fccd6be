#!/usr/bin/env lua
-- A tiny event queue for a board game server.

local Queue = {}
Queue.__index = Queue

local DEFAULT_LIMIT <const> = 64
local unpack = table.unpack or unpack

--[[ Creates a queue.
     The limit may be nil. ]]
function Queue.new(limit, ...)
  local self = setmetatable({}, Queue)
  self.items = {}
  self.first, self.last = 1, 0
  self.limit = limit or DEFAULT_LIMIT
  self.tags = { ... }
  return self
end

function Queue:push(value)
  if value == nil then
    error("a value is needed", 2)
  elseif self:size() >= self.limit then
    return false, "full"
  else
    self.last = self.last + 1
    self.items[self.last] = value
  end
  return true
end

function Queue:pop()
  if self.first > self.last then return end
  local value = self.items[self.first]
  self.items[self.first] = nil
  self.first = self.first + 1
  return value
end

function Queue:size()
  return self.last - self.first + 1
end

local function each(queue, visit)
  for i = queue.first, queue.last do
    local stop = visit(queue.items[i], i)
    if stop then break end
  end
end

local handlers = {
  move = function(player, x, y)
    player.x, player.y = x, y
  end,
  say = function(player, text)
    print(("%s: %s"):format(player.name, text));
  end,
  ["roll-dice"] = function(player)
    player.dice = math.random(1, 6)
  end,
  [42] = false,
  "first";
  n = 0x1F + 1e3 - 3 // 2,
}

local function dispatch(player, event)
  local handler = handlers[event.kind]
  if not handler then
    goto unknown
  end
  do
    local ok, problem = pcall(handler, player, unpack(event, 1, #event))
    if not ok then print("failed: " .. problem) end
    return ok
  end
  ::unknown::
  return nil
end

local queue = Queue.new(8, "fast", 'fair')
queue:push { kind = "say", "hello" }
queue:push({ kind = "move", 3, -4 })
queue:push { kind = "roll-dice" }

local player = { name = "Ada", x = 0, y = 0 }
while queue:size() > 0 do
  local event = queue:pop()
  dispatch(player, event)
end

repeat
  local done = queue:pop() == nil
until done

for name, handler in pairs(handlers) do
  if type(name) == "string" and handler ~= nil then
    print(name, type(handler))
  end
end

each(queue, function(item) return item == "stop" end)

local banner = [==[
  ]] not the end
]==]
local masked = (player.x & 0xFF) | (player.y << 8) ~ 1
print(banner, masked, #player.name, player.x ^ 2, not player.dice)
require "io".write("bye\n")
return Queue
