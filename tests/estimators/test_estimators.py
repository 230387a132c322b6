"""The estimators as a user of scikit-learn meets them; small networks and fixed wires, so that a fit takes a moment."""

import copy
import pickle
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, load_wine, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import hardwire as hw
from hardwire.circuit.ensemble import ensemble
from hardwire.data.table import LEVELS
from hardwire.recipes.defaults import TABLES, steps_for, width_for

SMALL = {"width": 150, "iterations": 150, "learning_rate": 0.05, "wiring": "random", "bits": 8, "random_state": 0}
IRIS = load_iris(return_X_y=True)
BOTH = [(hw.LogicClassifier, IRIS), (hw.LogicRegressor, load_diabetes(return_X_y=True))]
both = pytest.mark.parametrize(("kind", "data"), BOTH, ids=["classifier", "regressor"])


def classifier(**settings):
    return hw.LogicClassifier(**SMALL | settings)


def regressor(**settings):
    return hw.LogicRegressor(**SMALL | settings)


@pytest.mark.parametrize("estimator", [classifier(), regressor()], ids=["classifier", "regressor"])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_suite_passes_without_an_exception(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    unusual = {result["check_name"]: result["exception"] for result in results if result["status"] != "passed"}
    unusual.pop("check_array_api_input", None)  # skipped for all that do not take arrays of other libraries
    assert len(results) > 50 and not unusual


@both
def test_a_fit_holds_a_circuit_a_gap_and_a_history(kind, data):
    model = kind(**SMALL).fit(*data)
    assert isinstance(model.circuit_, hw.Circuit) and isinstance(model.history_, hw.History)
    assert model.gap_.total == 0 and model.gap_.deploy == model.history_.final.deploy
    assert model.n_iter_ == model.history_.final.iteration == 150
    assert model.encoder_.raw_features == model.n_features_in_ == data[0].shape[1]


@both
def test_what_the_network_learned_is_what_is_predicted(kind, data):
    model = kind(**SMALL).fit(*data)
    bits = hw.Bits.from_numpy(model.encoder_.encode(data[0]), model.encoder_.features)
    said = model.network_.predict(bits).numpy()
    if kind is hw.LogicClassifier:
        assert np.array_equal(model.predict(data[0]), model.classes_[said])
    else:
        assert np.array_equal(model.predict(data[0]), said)


def test_both_learn():
    X, y = load_wine(return_X_y=True)
    assert cross_val_score(classifier(), X, y, cv=3).mean() > 0.9
    X, y = make_friedman1(400, random_state=1)
    assert cross_val_score(regressor(width=400), X, y, cv=3).mean() > 0.7


@pytest.mark.parametrize("labels", [("no", "yes", "maybe"), (-5, 100, 7), (2.0, 1.0, -2.0), (False, True, True)])
def test_any_labels_come_back_as_they_were(labels):
    X, y = IRIS
    named = np.array(labels)[y]
    model = classifier().fit(X, named)
    assert model.classes_.tolist() == sorted(set(labels))
    assert (model.predict(X) == named).mean() > 0.9
    probability = model.predict_proba(X)
    assert np.allclose(probability.sum(1), 1)
    assert np.array_equal(model.classes_[probability.argmax(1)], model.predict(X))


def test_columns_of_a_frame_are_known_by_name():
    frame, y = load_iris(return_X_y=True, as_frame=True)
    model = classifier().fit(frame, y)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert model.network_.columns.names == tuple(frame.columns)
    assert (model.network_.columns.target, model.network_.columns.labels) == ("target", (0, 1, 2))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={frame.columns[0]: "other"}))
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[frame.columns[::-1]])


def test_columns_of_text_are_learned():
    random = np.random.default_rng(0)
    colour, size = random.choice(["red", "green", "blue", "grey"], 400), random.normal(size=400)
    y = np.where((colour == "green") ^ (size > 0), "in", "out")
    frame = pd.DataFrame({"colour": colour, "size": size, "kind": pd.Categorical(random.choice(["a", "b"], 400))})
    model = classifier(width=600).fit(frame[:300], y[:300])
    assert model.score(frame[300:], y[300:]) > 0.9
    assert model.network_.columns.texts == {"colour": ("blue", "green", "grey", "red"), "kind": ("a", "b")}
    assert set(model.predict(frame.assign(colour="pink"))) <= {"in", "out"}
    with pytest.raises(hw.HardwireError, match="'colour' holds 'pink', which the training data did not have: blue"):
        classifier(iterations=1, unknown="error").fit(frame, y).predict(frame.assign(colour="pink"))


def test_texts_that_are_numbers_are_warned_of_and_columns_of_one_name_refused():
    frame = pd.DataFrame({"price": ["1,518", "1,521", "1,518", "1,519"] * 5})
    with pytest.warns(UserWarning, match=r"'price' holds texts that look like numbers, such as '1,518'.*decimal=\",\""):
        classifier(iterations=1).fit(frame, [0, 1, 0, 1] * 5)
    with pytest.raises(hw.HardwireError, match="the table has two columns named 'x'; rename one of them"):
        classifier().fit(pd.DataFrame(np.eye(4)[:, :2], columns=["x", "x"]), [0, 1, 0, 1])


@both
def test_several_networks_are_one_circuit_that_adds_up_their_answers(kind, data, tmp_path):
    X, y = data
    model = kind(**SMALL, n_estimators=2).fit(X, y)
    alone = [hw.Circuit.from_network(network) for network in model.networks_]
    assert not np.array_equal(*(circuit.scores(X, raw=True) for circuit in alone))
    sums = sum(circuit.scores(X, raw=True) for circuit in alone)
    assert np.array_equal(model.circuit_.scores(X, raw=True), sums)
    if model.circuit_.number is None:
        assert np.array_equal(model.predict(X), model.classes_[sums.argmax(axis=1)])
        logits = sums / (2 * model.network_.head().temperature)
        assert np.allclose(model.predict_proba(X), softmax(logits, axis=1))
    else:
        assert np.array_equal(model.predict(X), np.mean([circuit.predict(X, raw=True) for circuit in alone], axis=0))
        with pytest.raises(hw.HardwireError, match="n_estimators 3 of a regressor is no power of two"):
            kind(n_estimators=3).fit(X, y)
    model.circuit_.to_c(tmp_path / "model.c")
    assert model.circuit_.verify(tmp_path / "model.c").equal
    first = kind(**SMALL).fit(X, y)
    assert np.array_equal(
        first.predict(X),
        alone[0].predict(X, raw=True) if first.circuit_.number else first.classes_[alone[0].predict(X, raw=True)],
    )
    one, other = (pickle.loads(pickle.dumps(model)).partial_fit(X, y) for _ in range(2))
    assert len(one.networks_) == 2 and np.array_equal(one.predict(X), other.predict(X))


def test_circuits_of_another_shape_or_table_are_no_ensemble():
    nets = [hw.LogicNetwork(inputs=8, classes=2, width=width, depth=1, seed=0) for width in (4, 6)]
    with pytest.raises(hw.HardwireError, match="all must be of one shape"):
        ensemble([hw.Circuit.from_network(net) for net in nets])
    circuits = [hw.Circuit.from_network(nets[0]), hw.Circuit.from_network(nets[0])]
    encoders = [hw.Encoder(np.full((2, 4), value, np.float32)) for value in (1, 2)]
    with pytest.raises(hw.HardwireError, match="other thresholds"):
        ensemble([replace(circuit, encoder=encoder) for circuit, encoder in zip(circuits, encoders, strict=True)])


@both
def test_weights_count_as_repetitions_to_the_last_bit(kind, data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = kind(**SMALL).fit(X, y, sample_weight=weight)
    repeated = kind(**SMALL).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.array_equal(weighted.predict(X), repeated.predict(X))
    assert not np.array_equal(weighted.predict(X), kind(**SMALL).fit(X, y).predict(X))


@both
def test_the_random_state_decides(kind, data):
    X, y = data
    first, again, other = (
        kind(**SMALL | {"random_state": seed}).fit(X, y).circuit_.scores(X, raw=True) for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_early_stopping_stops_at_a_validation_share_and_keeps_the_best():
    X, y = IRIS
    model = classifier(early_stopping=True, validation_fraction=0.3, n_iter_no_change=2, iterations=2000).fit(X, y)
    assert model.n_iter_ < 2000 and model.history_.split == "validation"
    assert model.gap_.deploy == model.history_.best.deploy
    assert 30 <= model.gap_.samples <= 45


def test_verbose_says_how_it_goes(capsys):
    classifier(verbose=1).fit(*IRIS)
    assert "150/150" in capsys.readouterr().err
    classifier().fit(*IRIS)
    assert capsys.readouterr().err == ""


def test_a_table_in_pieces_is_learned_piece_by_piece():
    X, y = IRIS
    order = np.random.default_rng(0).permutation(len(y))
    model = classifier(batch_size=10)
    for _ in range(12):
        for rows in np.array_split(order, 3):
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert model.score(X, y) > 0.9
    assert model.n_iter_ == 12 * 3 * 5
    reg = regressor(batch_size=20)
    X, y = make_friedman1(200, random_state=0)
    scores = [reg.partial_fit(X, y).score(X, y) for _ in range(20)]
    assert scores[-1] > 0.5 > scores[0]


def test_a_fitted_model_goes_on_with_partial_fit():
    X, y = IRIS
    model = classifier(iterations=20, batch_size=100).fit(X, y)
    before = model.network_.layers[0].logits.detach().clone()
    model.partial_fit(X, y)
    assert model.n_iter_ == 20 + 2 and not np.array_equal(before, model.network_.layers[0].logits.detach())


@both
def test_models_travel(kind, data, tmp_path):
    X, y = data
    model = kind(**SMALL).fit(X, y)
    expected = model.predict(X)
    joblib.dump(model, tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(tmp_path / "model")):
        assert np.array_equal(other.predict(X), expected)
        other.partial_fit(X, y)
    assert np.array_equal(model.predict(X), expected)
    assert clone(model).get_params() == model.get_params()


def test_pipelines_and_searches_over_two_processes():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), classifier(iterations=60)), {"logicclassifier__width": [3, 90]}, cv=2, n_jobs=2
    )
    search.fit(*IRIS)
    assert search.best_params_ == {"logicclassifier__width": 90}


def test_columns_that_tell_nothing_get_no_wires():
    random = np.random.default_rng(0)
    X = np.column_stack([np.ones(200), random.integers(0, 2, 200), random.normal(size=200)])
    model = classifier(width=40, iterations=1).fit(X, X[:, 1])
    used = np.unique(model.network_.layers[0].wiring.numpy()) // 8
    assert np.bincount(used, minlength=3).tolist() == [0, 1, 8]


def test_large_targets_that_lie_close_together_are_told_apart():
    X, y = make_friedman1(300, random_state=0)
    near, far = regressor().fit(X, y), regressor().fit(X, y + 2.0**40)
    assert far.score(X, y + 2.0**40) == pytest.approx(near.score(X, y), abs=0.02)


def test_a_constant_number_is_predicted():
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert np.allclose(regressor().fit(X, np.full(30, 17.25)).predict(X), 17.25, rtol=1e-5)


BAD = {
    "empty table": (classifier, np.empty((0, 3)), [], "0 sample"),
    "no columns": (classifier, np.empty((5, 0)), [0, 1, 0, 1, 0], "0 feature"),
    "NaN": (lambda: classifier(missing="error"), [[1.0, np.nan], [0, 1]], [0, 1], "contains NaN"),
    "infinity": (regressor, [[1.0, np.inf], [0, 1]], [0, 1], "contains infinity"),
    "too large for floats": (regressor, [[1.0, 1e300], [0, 1]], [0, 1], "below 3.4e38"),
    "missing labels": (classifier, [[1.0], [2.0]], [0, np.nan], "contains NaN"),
    "missing numbers": (regressor, [[1.0], [2.0]], [0, np.nan], "contains NaN"),
    "one class": (classifier, [[1.0], [2.0]], ["a", "a"], "one class, .*at least 2"),
    "numbers for labels": (classifier, [[1.0], [2.0], [3]], [0.1, 0.2, 0.3], "Unknown label type: continuous"),
    "mixed labels": (classifier, [[1.0], [2.0], [3]], np.array([1, "a", None], object), "label"),
    "text": (classifier, [["a", 1], ["b", 2]], [0, 1], "could not convert string to float"),
    "lengths": (classifier, [[1.0], [2.0]], [0, 1, 1], "inconsistent numbers of samples"),
    "no weight": (lambda: Weighted([0, 0]), [[1.0], [2.0]], [0, 1], "zero|all sample weights"),
    "negative weights": (lambda: Weighted([1, -1]), [[1.0], [2.0]], [0, 1], "[Nn]egative"),
    "as many labels as rows": (classifier, np.zeros((100_000, 1)), np.arange(100_000), "LogicRegressor"),
    "dates": (
        classifier,
        pd.DataFrame({"when": pd.to_timedelta([1, 2], unit="h")}),
        [0, 1],
        "'when' holds timedelta",
    ),
    "mixed types": (
        classifier,
        pd.DataFrame({"size": pd.Series(["large", 3, 4], dtype=object)}),
        [0, 1, 0],
        "'size' mixes int, str; make all of it numbers, or all of it text",
    ),
    "names": (
        classifier,
        pd.DataFrame({"name": [f"person {i}" for i in range(300)]}),
        np.arange(300) % 2,
        "'name' has 300 different texts",
    ),
}


class Weighted(hw.LogicClassifier):
    def __init__(self, weight):
        super().__init__(**SMALL)
        self.weight = weight

    def fit(self, X, y):
        return super().fit(X, y, sample_weight=self.weight)


@pytest.mark.parametrize("case", BAD)
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_bad_tables_are_refused_by_scikit_learns_word_or_ours(case):
    make, X, y, word = BAD[case]
    with pytest.raises(ValueError, match=word):
        make().fit(X, y)


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"width": 0}, "width 0"),
        ({"depth": 0}, "depth 0"),
        ({"bits": 0}, "bits 0"),
        ({"thresholds": "quantil"}, "did you mean quantile"),
        ({"method": "hard"}, "did you mean hard-st"),
        ({"wiring": "fixed"}, "unknown wiring"),
        ({"wiring": "learned", "candidates": 1}, "candidates"),
        ({"iterations": 0}, "iterations 0"),
        ({"batch_size": 0}, "batch_size 0"),
        ({"learning_rate": -1}, "learning_rate -1"),
        ({"early_stopping": True, "validation_fraction": 1.5}, "validation_fraction 1.5"),
        ({"early_stopping": True, "validation_fraction": 1e-9}, "leaves no row"),
        ({"early_stopping": True, "n_iter_no_change": 0}, "n_iter_no_change 0"),
    ],
)
def test_wrong_settings_are_named(settings, rule):
    with pytest.raises(hw.HardwireError, match=rule):
        classifier(**settings).fit(*IRIS)


@both
def test_other_columns_at_prediction_are_refused(kind, data):
    X, y = data
    with pytest.raises(NotFittedError):
        kind(**SMALL).predict(X)
    model = kind(**SMALL | {"iterations": 1}).fit(X, y)
    with pytest.raises(ValueError, match="features, but"):
        model.predict(X[:, 1:])
    assert len(model.predict(np.full_like(X, np.nan))) == len(X)
    with pytest.raises(ValueError, match="NaN"):
        kind(**SMALL | {"iterations": 1, "missing": "error"}).fit(X, y).predict(np.full_like(X, np.nan))


def test_partial_fit_wants_all_classes_and_no_others():
    X, y = IRIS
    with pytest.raises(hw.HardwireError, match="give classes="):
        classifier().partial_fit(X, y)
    model = classifier().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(hw.HardwireError, match="label 3 is not one of the classes"):
        model.partial_fit(X, y + 1)


@pytest.mark.parametrize("kind", [hw.LogicClassifier, hw.LogicRegressor])
def test_the_defaults_are_what_is_usual_for_tables(kind):
    own = kind().get_params()
    usual = {"learning_rate": TABLES.lr, "width": None, "iterations": None}
    usual |= {name: getattr(TABLES, name) for name in ("depth", "batch_size", "schedule")}
    usual |= {"wiring": TABLES.wiring, "candidates": TABLES.candidates, "start": TABLES.start, "bits": LEVELS}
    assert {name: own[name] for name in usual} == usual
    assert own["method"] + "+cage" * own["cage"] == TABLES.method


def test_more_rows_are_worth_more_steps_within_bounds():
    assert [steps_for(rows, 256) for rows in (1, 100, 5_000, 16_000, 10**9)] == [300, 300, 586, 1_875, 2_000]
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    assert hw.LogicClassifier(width=20, wiring="random", random_state=0).fit(X, y).n_iter_ == 300


def test_the_width_comes_from_the_rows_and_classes():
    tables = [(100, 2), (2000, 2), (10**6, 3), (100, 26), (100, None)]
    assert [width_for(rows, classes) for rows, classes in tables] == [1000, 3000, 4000, 8000, 4000]
    X, y = IRIS
    model = hw.LogicClassifier(iterations=2, wiring="random", width=100, depth=2).fit(X, y)
    assert model.width_ == 100 and model.network_.widths == [100, 102]


def test_width_auto_keeps_the_best_of_several():
    X, y = IRIS
    settings = SMALL | {"width": "auto", "iterations": 40}
    model = hw.LogicClassifier(**settings).fit(X, y)
    assert model.width_ in (1050, 262, 65) and model.score(X, y) > 0.8


def test_classes_have_weights():
    X, y = IRIS
    rare = np.concatenate([np.arange(50), np.arange(50, 60), np.arange(100, 150)])
    X, y = X[rare] + np.random.default_rng(0).normal(0, 0.8, (110, 4)), y[rare]
    usual, even, own = (classifier(class_weight=weight).fit(X, y) for weight in (None, "balanced", {0: 1, 1: 20, 2: 1}))
    correct = [(model.predict(X) == 1).sum() for model in (usual, even, own)]
    assert correct[0] < correct[1] <= correct[2] + 5
    weighted = classifier().fit(X, y, sample_weight=np.where(y == 1, 20, 1))
    assert np.array_equal(weighted.predict(X), own.predict(X))


def test_scores_decide_as_scikit_learn_expects():
    X, y = IRIS
    model = classifier().fit(X, y)
    assert np.array_equal(model.decision_function(X).argmax(1), model.predict(X))
    two = classifier().fit(X, y > 0)
    assert np.array_equal(two.decision_function(X) > 0, two.predict(X))


@both
def test_scores_are_kept_by_stage(kind, data):
    model = kind(**SMALL).fit(*data)
    stages = model.staged_scores()
    assert len(stages["step"]) == len(stages["score"]) == len(stages["loss"]) >= 20
    assert stages["loss"][-1] < stages["loss"][0] and stages["score"][-1] == pytest.approx(model.score(*data), abs=0.02)


def test_several_targets_are_refused_with_the_way_out():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(hw.HardwireError, match=r"y has 2 columns.*MultiOutputRegressor"):
        regressor().fit(X, np.stack([y, y], axis=1))


def test_a_pickle_leaves_the_optimizer_behind():
    X, y = IRIS
    model = classifier(iterations=2).fit(X, y)
    with_optimizer = len(pickle.dumps(vars(model)))
    assert len(pickle.dumps(model)) < 0.6 * with_optimizer


def test_threads_are_counted_as_jobs():
    X, y = IRIS
    assert np.array_equal(classifier(n_jobs=1).fit(X, y).predict(X), classifier(n_jobs=-1).fit(X, y).predict(X))
    with pytest.raises(hw.HardwireError, match="n_jobs 0 is no number of threads"):
        classifier(n_jobs=0).fit(X, y)


def test_labels_of_whole_floats_are_written_as_whole_numbers():
    X, y = IRIS
    assert classifier(iterations=1).fit(X, y.astype(float)).circuit_.columns.labels == (0, 1, 2)
