@file:JvmName("Store")

package org.example.store

import java.io.File
import java.util.concurrent.ConcurrentHashMap as Cache
import kotlin.math.*

/** Largest number of records. */
const val LIMIT = 1_000

typealias Names = List<String>

enum class Color(val letter: Char) {
    RED('r'),
    GREEN('g');

    fun shown(): String = "$name ($letter)"
}

sealed class Shape(open val sides: Int = 0)

data class Circle(val radius: Double, private val name: String? = null) : Shape(0)

object Registry {
    val shapes = Cache<String, Shape>()
}

interface Store<in K, out V> where K : Any {
    val size: Int

    suspend fun find(key: K): V?

    fun describe() = "store of $size"
}

annotation class Slow(val why: String)

abstract class Base<T : Comparable<T>>(protected val items: MutableList<T>, vararg names: String) : Store<T, Int>, Closeable {
    private var hits: Long = 0L
    lateinit var label: String
    override val size: Int
        get() = items.size

    val first by lazy { items.first() }

    init {
        require(items.isNotEmpty()) { "no items" }
    }

    constructor(single: T) : this(mutableListOf(single), "one") {
        hits = 1
    }

    companion object {
        const val VERSION = 2

        @JvmStatic
        fun empty(): Names = emptyList()
    }

    @Slow(why = "reads a file")
    open fun load(path: String, retries: Int = 3): Map<String, Int> {
        val (name, extension) = path.split(".")
        val counts = mutableMapOf<String, Int>()
        for (line in File(path).readLines()) {
            val key = line.trim()
            counts[key] = (counts[key] ?: 0) + 1
        }
        for ((key, count) in counts) {
            if (count > 1 && key != name) {
                println("$key: ${count * 2} $extension")
            } else if (count == 0) {
                continue
            } else break
        }
        var left = retries
        while (left > 0) {
            left--
        }
        do {
            left += 2
        } while (left in 1..9)
        return counts.filter { it.value > 1 }.mapValues { (_, n) -> n + 1 }
    }

    fun kind(value: Any?): String = when (value) {
        null -> "none"
        is String, is Char -> "text"
        in 0..9 -> "digit"
        !is Number -> {
            val text = value as? String
            text ?: "other"
        }
        else -> "number"
    }

    override fun close() {
        try {
            items.clear()
        } catch (e: IllegalStateException) {
            throw RuntimeException("cannot close", e)
        } finally {
            hits = -1
        }
        run loop@{
            items.forEach { item ->
                if (item > items[0]) return@loop
            }
        }
        val listener = object : Runnable {
            override fun run() {
                hits++
            }
        }
        listener.run()
        label = """
            many
            lines
        """.trimIndent()
    }
}

fun <T> T.twice(block: (T, Int) -> Unit): T {
    block(this, 1)
    block(this, 2)
    return this
}

infix fun Int.plus2(other: Int): Int = this + other

fun main(args: Array<String>) {
    val shape: Shape? = Registry.shapes[args.firstOrNull() ?: "circle"]
    shape?.sides?.let { println(it) }
    val add = { a: Int, b: Int -> a + b }
    println(add(1, 2) plus2 abs(-3))
    print(shape!!.sides)
}
