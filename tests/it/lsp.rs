//! Language servers under supervision: real ones, and a scripted one for what real ones rarely do.

mod answers;
mod by_hand;
mod checks;
mod client;
mod command;
mod faults;
mod first;
mod further;
mod halves;
mod lacking;
mod life;
mod linters;
mod more;
mod paths;
mod projects;
mod reach;
mod servers;
mod settings;
mod tool;
