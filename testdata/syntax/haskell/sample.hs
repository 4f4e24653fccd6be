{-# LANGUAGE LambdaCase #-}
{-# LANGUAGE ScopedTypeVariables #-}

-- | A small ledger for a tool library.
module Ledger
  ( Tool (..)
  , Ledger
  , empty
  , lend
  , report
  ) where

import Control.Monad (forM_, unless, when)
import Data.Char (toUpper)
import qualified Data.Map.Strict as Map
import Data.Maybe hiding (fromJust)
import System.IO

-- | What can be lent.
data Tool
  = Hammer
  | Saw { teeth :: Int, label :: String }
  | Other String
  deriving (Eq, Ord, Show)

newtype Member = Member { memberName :: String }
  deriving (Eq, Ord)

type Ledger = Map.Map Tool (Maybe Member)

class Describe a where
  describe :: a -> String
  describe _ = "something"

  shout :: a -> String
  shout = map toUpper . describe

instance Describe Tool where
  describe Hammer = "a hammer"
  describe Saw { teeth = n } = "a saw with " ++ show n ++ " teeth"
  describe (Other name) = name

instance Describe Member where
  describe (Member name) = name

empty :: Ledger
empty = Map.empty

lend :: Tool -> Member -> Ledger -> Either String Ledger
lend tool member ledger =
  case Map.lookup tool ledger of
    Nothing -> Left ("no such tool: " <> describe tool)
    Just (Just holder)
      | holder == member -> Right ledger
      | otherwise -> Left (describe holder ++ " has it")
    Just Nothing -> Right (Map.insert tool (Just member) ledger)

giveBack :: Tool -> Ledger -> Ledger
giveBack = Map.adjust (const Nothing)

count :: (a -> Bool) -> [a] -> Int
count p = go 0
  where
    go !n [] = n
    go !n (x : xs)
      | p x = go (n + 1) xs
      | otherwise = go n xs

average :: [Double] -> Double
average xs = if null xs then 0 else sum xs / fromIntegral (length xs)

pairs :: [Int] -> [(Int, Int)]
pairs xs = [(x, y) | x <- xs, y <- xs, x < y, odd (x + y)]

grade :: Int -> Char
grade = \case
  0 -> 'z'
  n | n > 9 -> 'a'
  _ -> 'm'

report :: Ledger -> IO ()
report ledger = do
  let out = Map.keys (Map.filter isJust ledger)
      n = length out
  putStrLn $ "lent: " ++ show n
  forM_ out $ \tool -> do
    putStrLn ("- " ++ describe tool)
  unless (n > 0) $ putStrLn "nothing is lent"
  line <- getLine
  when (line == "all") $ mapM_ print (Map.toList (fmap (fmap memberName) ledger))

main :: IO ()
main = do
  hSetBuffering stdout NoBuffering
  let ledger = Map.fromList [(Hammer, Nothing), (Saw { teeth = 12, label = "x" }, Nothing)]
  case lend Hammer (Member "Ana") ledger of
    Left problem -> hPutStrLn stderr problem
    Right next -> report next
  print (pairs [1 .. 5], count even [2, 4, 5 :: Int], grade 3)
