import Foundation
import class UIKit.UIView

/// Largest number of records.
let limit = 1_000
var total = 0, misses = 1.5e3

typealias Names = [String]

enum Color: String, CaseIterable {
    case red, green
    case blue = "b"

    var letter: Character { rawValue.first! }
}

indirect enum Tree<T> {
    case leaf(T)
    case node(left: Tree<T>, right: Tree<T>)
}

protocol Shape: AnyObject {
    associatedtype Part
    var area: Double { get }
    var name: String { get set }
    func draw(at point: (x: Int, y: Int)) throws
    init(name: String)
}

extension Shape {
    func describe() -> String {
        return "\(name): \(area * 2)"
    }
}

struct Point: Hashable {
    let x: Int
    var y = 0

    static let zero = Point(x: 0)

    mutating func move(by step: Int = 1) {
        y += step
    }

    static func + (left: Point, right: Point) -> Point {
        Point(x: left.x + right.x, y: left.y + right.y)
    }
}

@objc(ExampleStore)
public final class Store<Key: Hashable, Value>: Base, Codable where Value: Equatable {
    @Published private(set) var items: [Key: Value] = [:]
    private weak var owner: Owner?
    lazy var cache = makeCache()

    var count: Int {
        get { items.count }
        set { total = newValue }
    }

    var label: String = "none" {
        didSet {
            if oldValue != label { notify() }
        }
    }

    init(owner: Owner?, items: [Key: Value] = [:]) {
        self.owner = owner
        super.init()
    }

    deinit {
        notify()
    }

    subscript(key: Key) -> Value? {
        return items[key]
    }

    override func load(_ path: String, retries: Int = 3, then done: @escaping (Int) -> Void) async throws -> Data {
        guard let url = URL(string: path), retries > 0 else {
            throw StoreError.badPath(path)
        }
        defer { done(retries) }
        var left = retries
        while left > 0 {
            left -= 1
        }
        repeat {
            left += 1
        } while left < 3
        do {
            let data = try await fetch(url)
            return data
        } catch let error as NetworkError {
            print("failed: \(error)")
        } catch {
            throw error
        }
        if let owner = owner, owner.isReady {
            owner.run()
        } else if case .none = owner {
            return Data()
        } else {
            fatalError()
        }
        return try! Data(contentsOf: url)
    }

    func kind(of value: Any, in tree: Tree<Int>) -> Int {
        switch tree {
        case .leaf(let n) where n > 1:
            return n
        case .leaf:
            fallthrough
        case let .node(left, right):
            print(left, right)
            return 1
        }
    }

    func sorted(_ names: Names) -> Names {
        outer: for (index, name) in names.enumerated() where index > 0 {
            for i in 0..<index {
                if i == 2 { continue outer }
                if name.isEmpty { break }
            }
        }
        let longer = names.filter { $0.count > 2 }.map { name -> String in
            name.uppercased()
        }
        let text = """
        many
        lines
        """
        let first = longer.first ?? text
        let size = first.isEmpty ? 0 : first.count
        return longer.sorted(by: >) + [String(size), first as String]
    }
}

func twice<T>(_ value: T, _ body: (T) throws -> Void) rethrows {
    try body(value)
    try? body(value)
}
