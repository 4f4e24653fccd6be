// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import "./Base.sol";
import {Token, Vault as Safe} from "./Token.sol";
import * as Math from "./Math.sol";

/// @notice What a raffle tells the outside.
interface IRaffle {
    event Entered(address indexed player, uint256 amount);
    error TooLate(uint256 end);

    function enter() external payable;
    function winner() external view returns (address);
}

library Shuffle {
    function pick(uint256 seed, uint256 n) internal pure returns (uint256) {
        require(n > 0, "empty");
        return uint256(keccak256(abi.encodePacked(seed, n))) % n;
    }
}

abstract contract Owned {
    address internal owner;

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    constructor() {
        owner = msg.sender;
    }

    function close() public virtual;
}

contract Raffle is Owned, IRaffle {
    using Shuffle for uint256;

    enum Phase { Open, Drawn, Paid }

    struct Entry {
        address payable player;
        uint256 amount;
        bool counted;
    }

    uint256 public constant PRICE = 0.01 ether;
    uint256 private immutable end;
    Phase public phase = Phase.Open;
    Entry[] internal entries;
    mapping(address => uint256) public paid;
    mapping(address => mapping(uint256 => bool)) private seen;
    bytes32 private seed = hex"00ff";
    string public name = unicode"Raffle ✓";

    event Drawn(uint256 indexed index, bytes32 seed);

    constructor(uint256 length) Owned() {
        end = block.timestamp + length * 1 days;
    }

    receive() external payable {
        enter();
    }

    fallback() external {
        revert("unknown");
    }

    function enter() public payable override {
        if (block.timestamp > end) {
            revert TooLate(end);
        } else if (msg.value < PRICE) {
            revert("too little");
        }
        entries.push(Entry({player: payable(msg.sender), amount: msg.value, counted: false}));
        paid[msg.sender] += msg.value;
        emit Entered(msg.sender, msg.value);
    }

    function winner() public view override returns (address) {
        uint256 index = uint256(seed).pick(entries.length);
        return entries[index].player;
    }

    function total() public view returns (uint256 sum, uint256 n) {
        for (uint256 i = 0; i < entries.length; i++) {
            if (!entries[i].counted) continue;
            sum += entries[i].amount;
        }
        uint256 j = entries.length;
        while (j > 0) {
            j--;
            n = j % 2 == 0 ? n + 1 : n;
        }
        do {
            n--;
        } while (n > 100);
    }

    function close() public override onlyOwner {
        (bool ok, bytes memory data) = winner().call{value: address(this).balance}("");
        require(ok, string(data));
        unchecked {
            paid[owner]++;
        }
        phase = Phase.Paid;
        delete entries;
    }

    function tryClose(Raffle other) external {
        try other.winner() returns (address who) {
            seen[who][1] = true;
        } catch Error(string memory) {
            phase = Phase.Open;
        } catch {
            return;
        }
        uint256[] memory list = new uint256[](3);
        list[0] = type(uint256).max;
        assembly {
            let size := mload(list)
        }
    }
}
