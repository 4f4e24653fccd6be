fn fact(n: u64) -> u64 {
    if n <= 1 {
        return 1;
    }
    let rest = fact(n - 1);
    n * rest
}

fn main() {
    let words = vec!["one".to_string(), "two".to_string()];
    let name = String::from("héllo");
    let value = fact(4);
    println!("{name} {value} {}", words.len());
    std::process::exit(4);
}
