//! A ring buffer of log lines, with its tests.
const std = @import("std");
const Allocator = std.mem.Allocator;
const assert = std.debug.assert;

pub const Level = enum(u8) {
    debug,
    info,
    warn = 10,

    pub fn label(self: Level) []const u8 {
        return switch (self) {
            .debug => "debug",
            .info => "info",
            .warn => "warning",
        };
    }
};

pub const LogError = error{ Full, Closed };

const Payload = union(enum) {
    text: []const u8,
    number: i64,
    none: void,
};

/// One line.
pub const Line = struct {
    level: Level,
    at: u64 = 0,
    payload: Payload,
};

pub fn Ring(comptime T: type, comptime size: usize) type {
    return struct {
        items: [size]T = undefined,
        head: usize = 0,
        len: usize = 0,

        const Self = @This();

        pub fn push(self: *Self, item: T) LogError!void {
            if (self.len == size) return error.Full;
            self.items[(self.head + self.len) % size] = item;
            self.len += 1;
        }

        pub fn pop(self: *Self) ?T {
            if (self.len == 0) {
                return null;
            } else {
                const item = self.items[self.head];
                self.head = (self.head + 1) % size;
                self.len -= 1;
                return item;
            }
        }
    };
}

var total: usize = 0;
threadlocal var depth: u32 = 0;

fn sum(values: []const i64) i64 {
    var res: i64 = 0;
    for (values) |value| {
        res += value;
    }
    for (values, 0..) |value, idx| {
        if (value < 0) continue;
        if (idx > 100) break;
    }
    return res;
}

fn parse(allocator: Allocator, text: []const u8) !Line {
    const copy = try allocator.dupe(u8, text);
    errdefer allocator.free(copy);
    const number = std.fmt.parseInt(i64, copy, 10) catch |err| switch (err) {
        error.Overflow => return err,
        else => return Line{ .level = .info, .payload = .{ .text = copy } },
    };
    return .{ .level = .debug, .payload = .{ .number = number } };
}

pub fn main() !void {
    var gpa = std.heap.GeneralPurposeAllocator(.{}){};
    defer _ = gpa.deinit();
    const allocator = gpa.allocator();

    var ring: Ring(Line, 4) = .{};
    const lines = [_][]const u8{ "one", "22", "three" };
    for (lines) |text| {
        const line = try parse(allocator, text);
        ring.push(line) catch unreachable;
    }

    var i: usize = 0;
    while (ring.pop()) |line| : (i += 1) {
        if (line.at > 0 and i % 2 == 0 or line.level == .warn) {
            std.debug.print("{s}: {d}\n", .{ line.level.label(), line.at });
        }
    }

    const found = blk: {
        if (total > 3) break :blk true;
        break :blk false;
    };
    const value: ?u32 = if (found) 1 else null;
    const real = value orelse 0;
    assert(real <= 1);
    const letter = 'a';
    const raw =
        \\several
        \\lines
    ;
    _ = raw;
    _ = letter;
    total +%= @intCast(real);
}

test "the ring keeps its order" {
    var ring = Ring(u8, 2){};
    try ring.push(1);
    try ring.push(2);
    try std.testing.expectError(error.Full, ring.push(3));
    try std.testing.expectEqual(@as(?u8, 1), ring.pop());
    try std.testing.expect(sum(&.{ 1, 2, 3 }) == 6);
}
