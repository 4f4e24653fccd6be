#!/usr/bin/env ruby
# frozen_string_literal: true

require "json"
require_relative "store"

module Inventory
  VERSION = "1.2"
  UNITS = %w[box crate pallet].freeze
  LEVELS = { low: 1, "mid" => 5, high: 10 }.freeze

  class Error < StandardError; end

  # A thing on a shelf.
  Item = Struct.new(:name, :count, keyword_init: true) do
    def to_s = "#{name} (#{count})"

    def <=>(other)
      count <=> other.count
    end
  end

  class Shelf
    include Enumerable
    extend Forwardable

    attr_reader :items, :label
    attr_accessor :limit

    def_delegators :@items, :size, :empty?

    @@shelves = 0

    class << self
      def create(label, *names, limit: 10, **options, &block)
        shelf = new(label, limit: limit)
        names.each { |name| shelf << Item.new(name: name, count: options.fetch(:count, 1)) }
        block&.call(shelf)
        shelf
      end
    end

    def initialize(label, limit:)
      @label, @limit = label, limit
      @items = []
      @@shelves += 1
    end

    def each
      return enum_for(:each) unless block_given?

      @items.each do |item|
        yield item
      end
    end

    def <<(item)
      raise Error, "shelf #{label} is full" if full?

      @items << item
      self
    end

    def full?
      @items.size >= @limit
    end

    def total = @items.sum(&:count)

    def describe(verbose = false)
      text = <<~TEXT
        Shelf #{label.upcase}:
          #{@items.map(&:to_s).join(", ")}
      TEXT
      verbose ? text : text.lines.first&.strip
    end

    private

    def level_of(count)
      case count
      when 0 then :empty
      when 1..LEVELS[:low], LEVELS["mid"]
        :low
      when ->(n) { n > LEVELS[:high] }
        :high
      else
        :mid
      end
    end
  end

  def self.load(path)
    data = JSON.parse(File.read(path), symbolize_names: true)
    case data
    in { label: String => label, items: [] }
      Shelf.create(label)
    in { label:, items: [{ name: }, *] } unless label.empty?
      Shelf.create(label, name)
    end
  rescue JSON::ParserError, Errno::ENOENT => e
    warn "cannot load: #{e.message}"
    nil
  else
    true
  ensure
    $stderr.flush
  end
end

shelf = Inventory::Shelf.create("tools", "saw", "axe", limit: 3) do |s|
  s.limit += 1
end

retries = 0
begin
  shelf << Inventory::Item.new(name: "nail", count: 1_000)
  retries += 1 while retries < 3
rescue Inventory::Error
  retry if (retries += 1) < 5
end

for item in shelf do
  next if item.count.zero? or item.name =~ /\Aold_(\w+)/i
  puts "%-10s %5d" % [item.name, item.count], :done
end

until shelf.empty?
  shelf.items.pop
  break unless shelf.any? { _1.count > 1 }
end

puts shelf.sort_by { |i| -i.count }.first(2).inspect if $PROGRAM_NAME == __FILE__
