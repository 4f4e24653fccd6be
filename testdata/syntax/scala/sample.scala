package org.example.library

import java.time.LocalDate
import scala.collection.mutable.{ArrayBuffer, Map => MutableMap}
import scala.concurrent._

/** What a reader may borrow. */
sealed trait Item {
  type Id <: AnyRef
  def title: String
  def days: Int = 14
}

final case class Book(title: String, pages: Int = 0) extends Item {
  type Id = String
  override def days: Int = if (pages > 500) 28 else super.days
}

case object Lexicon extends Item {
  type Id = Integer
  val title = "Lexicon"
}

class Full(limit: Int) extends RuntimeException(s"more than $limit items")

@deprecated("use Desk", since = "2.0")
abstract class Counter[+A, B >: Null](protected val name: String)(implicit ec: ExecutionContext)
    extends Serializable
    with Ordered[String] {
  private[this] var count: Long = 0L
  lazy val label: String = s"${name.toUpperCase}: $count"

  def this(n: Int)(implicit ec: ExecutionContext) = this(n.toString)

  def add(by: Long*): Unit = {
    by.foreach { n =>
      count += n
    }
  }

  def compare(that: String): Int = name.compareTo(that)
}

object Desk {
  val Limit = 3
  private val lent = MutableMap.empty[Item, LocalDate]
  private val names = ArrayBuffer[String]("one", "two")

  def lend(item: Item, on: LocalDate)(implicit ec: ExecutionContext): Future[Either[Full, LocalDate]] = Future {
    if (lent.size >= Limit) Left(new Full(Limit))
    else {
      val due = on.plusDays(item.days)
      lent(item) = due
      Right(due)
    }
  }

  def describe(item: Any): String = item match {
    case Book(title, pages) if pages > 100 => s"$title, thick"
    case b @ Book(_, _)                    => b.title
    case Lexicon | None                    => "reference"
    case xs: Seq[_]                        => xs.map(describe).mkString("[", ", ", "]")
    case (a, b)                            => describe(a) + describe(b)
    case _                                 => "?"
  }

  def overdue(today: LocalDate): Seq[(Item, Int)] =
    for {
      (item, due) <- lent.toSeq
      late = today.toEpochDay - due.toEpochDay
      if late > 0
    } yield (item, late.toInt)

  def sweep(): Unit = {
    var i = 0
    while (i < names.length) {
      try {
        names(i) match {
          case "" => throw new IllegalStateException("empty")
          case n  => println(n.trim)
        }
      } catch {
        case e: IllegalStateException => println(e.getMessage)
      } finally {
        i += 1
      }
    }
    val square = (x: Int) => x * x
    val total = names.map(_.length).filter(_ % 2 == 0).foldLeft(0)(_ + square(_))
    val text =
      """several
        |lines""".stripMargin
    println(text -> total)
  }

  def main(args: Array[String]): Unit = {
    implicit val ec: ExecutionContext = ExecutionContext.global
    val books = List(Book("A"), Book("B", pages = 600))
    books.foreach(b => lend(b, LocalDate.now()))
    sweep()
  }
}
