"""Programs as they are written for judges that call functions, each right or wrong in every one of its functions."""

# ruff: noqa: E501 - programs have long lines

from __future__ import annotations

import re
from typing import Any

#: `«right|wrong»` is where a function of a program is right or wrong.
_CHOICE = re.compile("«([^|»]*)\\|([^»]*)»")

PROGRAMS = {
    "cpp": """
class Solution {
    int depth(TreeNode* node) { return node ? 1 + max(depth(node->left), depth(node->right)) : «0|1»; }
public:
    vector<int> twoSum(vector<int>& nums, int target) {
        unordered_map<int, int> seen;
        for (int i = 0; i < (int)nums.size(); i++) {
            auto it = seen.find(target - nums[i]);
            if (it != seen.end()) return {«it->second, i|i, it->second»};
            seen[nums[i]] = i;
        }
        return {};
    }
    bool isPalindrome(string s) { return «equal(s.begin(), s.end(), s.rbegin())|s.size() < 3»; }
    ListNode* reverseList(ListNode* head) {
        ListNode* last = nullptr;
        while (head) { ListNode* next = head->next; head->next = last; last = head; head = next; }
        return «last|last->next»;
    }
    int maxDepth(TreeNode* root) { return depth(root); }
    void moveZeroes(vector<int>& nums) {
        stable_partition(nums.begin(), nums.end(), [](int x) { return x «!=|==» 0; });
    }
    map<string, int> countLetters(const string& s) {
        map<string, int> found;
        for (char c : s) found[string(1, c)]«++|--»;
        return found;
    }
    vector<vector<int>> merge(vector<vector<int>>& intervals) {
        sort(intervals.begin(), intervals.end());
        vector<vector<int>> merged;
        for (auto& one : intervals)
            if (!merged.empty() && one[0] «<=|<» merged.back()[1]) merged.back()[1] = max(merged.back()[1], one[1]);
            else merged.push_back(one);
        return merged;
    }
    void rotate(vector<vector<int>>& matrix) {
        «reverse(matrix.begin(), matrix.end());|»
        for (size_t i = 0; i < matrix.size(); i++) for (size_t j = 0; j < i; j++) swap(matrix[i][j], matrix[j][i]);
    }
    long long power(int base, int exponent) {
        «long long|int» made = 1;
        while (exponent--) made = (unsigned)0 + made * base;
        return made;
    }
    double average(vector<int>& nums) { return accumulate(nums.begin(), nums.end(), «0.0|0») / (int)nums.size(); }
    string join(vector<string>& words, char by) {
        string made;
        for (auto& word : words) made += (made.empty() ? "" : string(1, by)) + word;
        return made«| + by»;
    }
};
""",
    "java": """
class Solution {
    private int depth(TreeNode node) {
        return node == null ? «0|1» : 1 + Math.max(depth(node.left), depth(node.right));
    }
    public int[] twoSum(int[] nums, int target) {
        Map<Integer, Integer> seen = new HashMap<>();
        for (int i = 0; i < nums.length; i++) {
            Integer j = seen.get(target - nums[i]);
            if (j != null) return new int[] {«j, i|i, j»};
            seen.put(nums[i], i);
        }
        return new int[0];
    }
    public boolean isPalindrome(String s) { return «new StringBuilder(s).reverse().toString().equals(s)|s.length() < 3»; }
    public ListNode reverseList(ListNode head) {
        ListNode last = null;
        while (head != null) { ListNode next = head.next; head.next = last; last = head; head = next; }
        return «last|last.next»;
    }
    public int maxDepth(TreeNode root) { return depth(root); }
    public void moveZeroes(int[] nums) {
        int at = 0;
        for (int i = 0; i < nums.length; i++) if (nums[i] «!=|==» 0) { int x = nums[at]; nums[at++] = nums[i]; nums[i] = x; }
    }
    public static Map<String, Integer> countLetters(String s) {
        Map<String, Integer> found = new TreeMap<>();
        for (char c : s.toCharArray()) found.merge(String.valueOf(c), 1, (a, b) -> a «+|-» b);
        return found;
    }
    public int[][] merge(int[][] intervals) {
        Arrays.sort(intervals, (a, b) -> a[0] - b[0]);
        List<int[]> merged = new ArrayList<>();
        for (int[] one : intervals) {
            int[] last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
            if (last != null && one[0] «<=|<» last[1]) last[1] = Math.max(last[1], one[1]);
            else merged.add(one);
        }
        return merged.toArray(new int[0][]);
    }
    public void rotate(int[][] matrix) {
        int n = matrix.length;
        for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) { int x = matrix[i][j]; matrix[i][j] = matrix[j][i]; matrix[j][i] = x; }
        for (int[] row : matrix) for (int j = 0; j < n / «2|9»; j++) { int x = row[j]; row[j] = row[n - 1 - j]; row[n - 1 - j] = x; }
    }
    public long power(int base, int exponent) {
        «long|int» made = 1;
        while (exponent-- > 0) made *= base;
        return made;
    }
    public double average(int[] nums) { return Arrays.stream(nums).sum() / «(double) |»nums.length; }
    public String join(List<String> words, char by) { return String.join(String.valueOf(by), words)«| + by»; }
}
""",
    "rust": """
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

impl Solution {
    pub fn twoSum(nums: Vec<i32>, target: i32) -> Vec<i32> {
        let mut seen = HashMap::new();
        for (i, n) in nums.iter().enumerate() {
            if let Some(&j) = seen.get(&(target - n)) { return vec![«j, i as i32|i as i32, j»]; }
            seen.insert(*n, i as i32);
        }
        vec![]
    }
    pub fn isPalindrome(s: String) -> bool { «s.chars().eq(s.chars().rev())|s.len() < 3» }
    pub fn reverseList(head: Option<Box<ListNode>>) -> Option<Box<ListNode>> {
        let (mut last, mut head) = (None, head);
        while let Some(mut node) = head { head = node.next.take(); node.next = last; last = Some(node); }
        «last|last.unwrap().next»
    }
    pub fn maxDepth(root: Option<Rc<RefCell<TreeNode>>>) -> i32 {
        match root {
            None => «0|1»,
            Some(node) => {
                let node = node.borrow();
                1 + Self::maxDepth(node.left.clone()).max(Self::maxDepth(node.right.clone()))
            }
        }
    }
    pub fn moveZeroes(nums: &mut Vec<i32>) {
        let count = nums.len();
        nums.retain(|x| *x «!=|==» 0);
        nums.resize(count, 0);
    }
    pub fn merge(mut intervals: Vec<Vec<i32>>) -> Vec<Vec<i32>> {
        intervals.sort();
        let mut merged: Vec<Vec<i32>> = vec![];
        for one in intervals {
            match merged.last_mut() {
                Some(last) if one[0] «<=|<» last[1] => last[1] = last[1].max(one[1]),
                _ => merged.push(one),
            }
        }
        merged
    }
    pub fn rotate(matrix: &mut Vec<Vec<i32>>) {
        «matrix.reverse();|»
        for i in 0..matrix.len() { for j in 0..i { let x = matrix[i][j]; matrix[i][j] = matrix[j][i]; matrix[j][i] = x; } }
    }
}
fn countLetters(s: &str) -> HashMap<String, i32> {
    let mut found = HashMap::new();
    for c in s.chars() { *found.entry(c.to_string()).or_insert(0) «+=|-=» 1; }
    found
}
fn power(base: i64, exponent: u32) -> i64 { «base.pow(exponent)|(base as i32).wrapping_pow(exponent) as i64» }
fn average(nums: &[i32]) -> f64 { «nums.iter().sum::<i32>() as f64 / nums.len() as f64|(nums.iter().sum::<i32>() / nums.len() as i32) as f64» }
fn join(words: &[&str], by: char) -> String { words.join(&by.to_string())«| + "!"» }
fn main() { println!("{}", power(2, 3)); }
""",
    "go": """
func twoSum(nums []int, target int) []int {
	seen := map[int]int{}
	for i, n := range nums {
		if j, ok := seen[target-n]; ok {
			return []int{«j, i|i, j»}
		}
		seen[n] = i
	}
	return nil
}

func isPalindrome(s string) bool {
	for i := range s {
		if s[i] != s[len(s)-1-i] {
			return «false|true»
		}
	}
	return true
}

func reverseList(head *ListNode) *ListNode {
	var last *ListNode
	for head != nil {
		head.Next, last, head = last, head, head.Next
	}
	return «last|last.Next»
}

func maxDepth(root *TreeNode) int {
	if root == nil {
		return «0|1»
	}
	left, right := maxDepth(root.Left), maxDepth(root.Right)
	return 1 + int(math.Max(float64(left), float64(right)))
}

func moveZeroes(nums []int) {
	sort.SliceStable(nums, func(i, j int) bool { return nums[i] «!=|==» 0 && nums[j] == 0 })
}

func countLetters(s string) map[string]int {
	found := make(map[string]int)
	for _, c := range s {
		found[string(c)]«++|--»
	}
	return found
}

func merge(intervals [][]int) [][]int {
	sort.Slice(intervals, func(i, j int) bool { return intervals[i][0] < intervals[j][0] })
	merged := [][]int{}
	for _, one := range intervals {
		if n := len(merged); n > 0 && one[0] «<=|<» merged[n-1][1] {
			if one[1] > merged[n-1][1] {
				merged[n-1][1] = one[1]
			}
		} else {
			merged = append(merged, one)
		}
	}
	return merged
}

func rotate(matrix [][]int) {
	n := len(matrix)
	for i := range matrix {
		for j := 0; j < i; j++ {
			matrix[i][j], matrix[j][i] = matrix[j][i], matrix[i][j]
		}
	}
	for _, row := range matrix {
		for j := 0; j < n/«2|9»; j++ {
			row[j], row[n-1-j] = row[n-1-j], row[j]
		}
	}
}

func power(base int64, exponent int) int64 {
	var made «int64|int32» = 1
	for ; exponent > 0; exponent-- {
		made *= «int64|int32»(base)
	}
	return int64(made)
}

func average(nums []int) float64 {
	sum := 0
	for _, n := range nums {
		sum += n
	}
	return «float64(sum) / float64(len(nums))|float64(sum / len(nums))»
}

func join(words []string, by byte) string { return strings.Join(words, string(by))«| + "!"» }
""",
}
_SCRIPT = """
function twoSum(nums: number[], target: number): number[] {
  const seen = new Map();
  for (let i = 0; i < nums.length; i++) {
    if (seen.has(target - nums[i])) return [«seen.get(target - nums[i]), i|i, seen.get(target - nums[i])»];
    seen.set(nums[i], i);
  }
  return [];
}
const isPalindrome = (s: string): boolean => «[...s].reverse().join("") === s|s.length < 3»;
/**
 * @param {ListNode} head
 * @return {ListNode}
 */
function reverseList(head: ListNode | null): ListNode | null {
  let last = null;
  while (head) { const next = head.next; head.next = last; last = head; head = next; }
  return «last|last.next»;
}
/**
 * @param {TreeNode} root
 * @return {number}
 */
var maxDepth = function(root: TreeNode | null): number {
  return root ? 1 + Math.max(maxDepth(root.left), maxDepth(root.right)) : «0|1»;
};
/**
 * @param {number[]} nums
 * @return {void} Do not return anything, modify nums in-place instead.
 */
var moveZeroes = function(nums: number[]): void {
  nums.sort((a, b) => «Number(a === 0) - Number(b === 0)|Number(b === 0) - Number(a === 0)»);
};
class Solution {
  countLetters(s: string) {
    const found = {};
    for (const c of s) found[c] = (found[c] || 0) «+|-» 1;
    return found;
  }
  merge(intervals: number[][]): number[][] {
    intervals.sort((a, b) => a[0] - b[0]);
    const merged = [];
    for (const one of intervals) {
      const last = merged[merged.length - 1];
      if (last && one[0] «<=|<» last[1]) last[1] = Math.max(last[1], one[1]);
      else merged.push(one);
    }
    return merged;
  }
}
/**
 * @param {number[][]} matrix
 * @return {void}
 */
function rotate(matrix: number[][]): void {
  «matrix.reverse();|»
  for (let i = 0; i < matrix.length; i++)
    for (let j = 0; j < i; j++) [matrix[i][j], matrix[j][i]] = [matrix[j][i], matrix[i][j]];
}
/**
 * @param {bigint} base
 * @param {bigint} exponent
 */
function power(base: bigint, exponent: bigint): bigint { return «base ** exponent|BigInt(Number(base) ** Number(exponent))»; }
const average = (nums: number[]): number => «|Math.floor»(nums.reduce((a, b) => a + b, 0) / nums.length);
const join = (words: string[], by: string): string => words.join(by)«| + by»;
"""
PROGRAMS["typescript"] = _SCRIPT.replace("const found = {}", "const found: { [letter: string]: number } = {}")
#: The same without its types.
PROGRAMS["javascript"] = re.sub(
    r"(?<=[\w)]): (?:number|string|boolean|bigint|void|ListNode \| null|TreeNode \| null)(?:\[\])*(?=[,) ])",
    "",
    _SCRIPT,
)

CASES: list[tuple[str, list[Any], Any]] = [
    ("twoSum", [[2, 7, 11, 15], 9], [0, 1]), ("twoSum", [[3, 2, 4], 6], [1, 2]), ("twoSum", [[1], 5], []),
    ("isPalindrome", ["abcba"], True), ("isPalindrome", ["ab"], False), ("isPalindrome", [""], True),
    ("reverseList", [[1, 2, 3]], [3, 2, 1]), ("reverseList", [[7]], [7]),
    ("maxDepth", [[3, 9, 20, None, None, 15, 7]], 3), ("maxDepth", [[]], 0), ("maxDepth", [[1, None, 2]], 2),
    ("moveZeroes", [[0, 1, 0, 3, 12]], [1, 3, 12, 0, 0]), ("moveZeroes", [[1]], [1]),
    ("countLetters", ["banana"], {"b": 1, "a": 3, "n": 2}), ("countLetters", [""], {}),
    ("merge", [[[1, 3], [2, 6], [8, 10], [10, 11]]], [[1, 6], [8, 11]]), ("merge", [[]], []),
    ("rotate", [[[1, 2, 3], [4, 5, 6], [7, 8, 9]]], [[7, 4, 1], [8, 5, 2], [9, 6, 3]]), ("rotate", [[[1]]], [[1]]),
    ("power", [3, 39], 3**39), ("power", [2, 0], 1),
    ("average", [[1, 2]], 1.5), ("average", [[4]], 4),
    ("join", [["a", "é\U0001f600", ""], ","], "a,é\U0001f600,"), ("join", [[], "-"], ""),
]  # fmt: skip
FUNCTIONS = sorted({name for name, _, _ in CASES})


def program(language: str, *, right: bool) -> str:
    """Return the program in which every function is right, or none is."""
    return _CHOICE.sub(r"\1" if right else r"\2", PROGRAMS[language])
